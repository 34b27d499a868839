"""All cases, by name, in the order in which they run."""
import calls  # noqa: F401 what is defined there is a case
import daemons  # noqa: F401
import folders  # noqa: F401
import agents  # noqa: F401
import servers  # noqa: F401
from case import ALL  # noqa: F401
