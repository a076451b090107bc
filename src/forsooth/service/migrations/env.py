"""Alembic's entry: migrations run inside the transaction that the store has begun."""

from __future__ import annotations

from alembic import context

from forsooth.service.models import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
