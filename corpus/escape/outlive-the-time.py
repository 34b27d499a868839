# what: when the time is up, everything ends, whatever it ignores
# expect: started
# limits: wall=2500
# ends: timed out
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        break
for number in range(1, 32):
    if number not in (9, 19):
        signal.signal(number, signal.SIG_IGN)
held("waiting", "started")
time.sleep(30)
