new.target
