await import(`child_process`)
