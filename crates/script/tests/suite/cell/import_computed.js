const m = await import("lod" + "ash", { with: { type: "json" } })
