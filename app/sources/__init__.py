"""Where documents come from: files, folders, standard input."""
