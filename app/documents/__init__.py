"""Bytes to documents with positions: YAML, JSON, Lists; errors with line and column."""

from app.documents.document import Document
from app.documents.errors import DocumentError, UnrenderedError
from app.documents.reader import read
from app.documents.regions import Region
from app.documents.unrendered import helm_action

__all__ = ["Document", "DocumentError", "Region", "UnrenderedError", "helm_action", "read"]
