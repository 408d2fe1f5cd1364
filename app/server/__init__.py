"""The webhook server: FastAPI on uvicorn, with the reviews taken before FastAPI sees them."""
