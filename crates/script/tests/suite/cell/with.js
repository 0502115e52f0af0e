with (o) x
