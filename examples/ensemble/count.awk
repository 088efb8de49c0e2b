# Count the atoms of a snapshot that are placed as in a crystal; append "step count" to the file `out`, or
# print it.
/^ITEM: TIMESTEP/ { getline step }
/^ITEM: NUMBER OF ATOMS/ { getline atoms }
/^ITEM: ATOMS/ { inside = 1; next }
inside && $5 == 1 { crystal++ }
END {
	line = sprintf("%d\t%d", step, crystal)
	if (out)
		print line >> out
	else
		printf "step %d: %d of %d atoms in the crystal\n", step, crystal, atoms
}
