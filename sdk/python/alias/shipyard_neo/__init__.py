"""`ShipyardClient` under the name that some programs import it by."""

from cove.compat.shipyard_neo import ShipyardClient

__all__ = ["ShipyardClient"]
