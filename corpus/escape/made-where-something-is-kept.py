# what: what git and agents obey and what was not there at the start is not there at the end
# on: namespaces
# expect: made EROFS EBUSY EEXIST ENOTDIR EISDIR ENOENT
# In a directory that may be written a name cannot be forbidden; it is set aside soon.
for place in env["KEPT"].split("\n"):
    try:
        os.makedirs(os.path.dirname(place) or ".", exist_ok=True)
        os.mkdir(place)
        write(f"{place}/inside")
        held(place, "made")
    except OSError as error:
        held(place, name(error))
