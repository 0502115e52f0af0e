const fs = await import("fs")
