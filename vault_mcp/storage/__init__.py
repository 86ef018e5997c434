"""Things: the disk, Git and the index, each behind one door."""
