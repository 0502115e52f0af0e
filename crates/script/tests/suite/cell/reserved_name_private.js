class A { #__cove = 1 }
