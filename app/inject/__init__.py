"""The injections: one file each. They add what is missing and overwrite nothing."""
