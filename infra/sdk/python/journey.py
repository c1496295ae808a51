"""Exports a record from a running service with the package: connection, export, download against the manifest."""

import os
import time

from recordbridge import CreateExportRequest, PortalConnection, Recordbridge, TaskStatus

with Recordbridge(os.environ["BASE_URL"], os.environ["PUBLIC_ID"], os.environ["PRIVATE_KEY"]) as recordbridge:
    connection = recordbridge.get_connection(os.environ["CONNECTION_ID"])
    task = recordbridge.create_export(CreateExportRequest(org_connection_id=connection.org_connection_id))
    while recordbridge.get_export(task.task_id).status is TaskStatus.PENDING:
        time.sleep(0.2)
    manifest = recordbridge.manifest(task.task_id)
    file = recordbridge.verified_files(task.task_id)[0]
    resources = sum(1 for resource in recordbridge.resources(file) if resource["resourceType"])
    if manifest.counts["Patient"] != 1 or resources == 0 or not isinstance(connection, PortalConnection):
        raise SystemExit(f"{resources} resources, {manifest.counts}")
    print(connection.catalog_brand_id)
