/* A program that cannot be intercepted. */
int main(void)
{
	return 0;
}
