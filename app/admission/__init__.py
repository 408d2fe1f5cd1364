"""Modes, exemptions and exceptions over the engine; AdmissionReview in, AdmissionReview out."""
