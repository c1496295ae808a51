"""Calls the API with the client of openapi-python-client."""

import base64
import os

from recordbridge_client import AuthenticatedClient
from recordbridge_client.api.connection import get_connection
from recordbridge_client.models import Error, PortalConnection

pair = base64.b64encode(f"{os.environ['PUBLIC_ID']}:{os.environ['PRIVATE_KEY']}".encode()).decode()
client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=pair, prefix="Basic")
answer = get_connection.sync(os.environ["CONNECTION_ID"], client=client)
if answer is None or isinstance(answer, Error):
    raise SystemExit(f"no connection: {answer}")
connection = answer.data
print(connection.catalog_brand_id if isinstance(connection, PortalConnection) else connection.tefca_directory_id)
