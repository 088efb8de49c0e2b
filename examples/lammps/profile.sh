#!/bin/bash
# Mean kinetic temperature of the atoms by slab along x, over all frames of the trajectory.
awk 'NF == 8 && $1 + 0 > 0 {b = int($5 * 5); n[b]++; k[b] += $6 * $6 + $7 * $7 + $8 * $8}
	END {for (b in n) print b / 5, n[b], k[b] / n[b] / 3}' traj.lammpstrj |
	LC_ALL=C sort -n >profile.txt
