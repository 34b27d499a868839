# what: whatever was left running ends with the command
# expect: started
# limits: wall=60000
for way in ["plain", "session", "twice"]:
    if os.fork() == 0:
        if way != "plain":
            os.setsid()
        if way == "twice" and os.fork():
            os._exit(0)
        for number in range(1, 32):
            if number not in (9, 19):
                signal.signal(number, signal.SIG_IGN)
        for _ in range(300):
            time.sleep(0.1)
        os._exit(0)
    held(way, "started")
time.sleep(0.3)
