"""What a run found, in the formats that people and CI systems read: one file a format."""
