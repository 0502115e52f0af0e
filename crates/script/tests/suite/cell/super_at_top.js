super.x
