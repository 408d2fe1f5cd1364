"""Bytes to documents with positions: YAML, JSON, Lists; errors with line and column."""

from app.documents.document import Document
from app.documents.errors import DocumentError
from app.documents.reader import read
from app.documents.regions import Region

__all__ = ["Document", "DocumentError", "Region", "read"]
