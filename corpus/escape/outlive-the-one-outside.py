# what: when the one outside is killed, everything ends
# expect: started
# limits: wall=60000
# then: kill
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        break
else:
    time.sleep(0.5)
    held("waiting", "started")
for number in range(1, 32):
    if number not in (9, 19):
        signal.signal(number, signal.SIG_IGN)
for _ in range(300):
    time.sleep(0.1)
