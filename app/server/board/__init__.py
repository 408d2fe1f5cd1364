"""The board, served on loopback to one person, from a snapshot that is made again when it is asked for."""
