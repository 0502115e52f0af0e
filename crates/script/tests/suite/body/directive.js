"use strict"
return this
