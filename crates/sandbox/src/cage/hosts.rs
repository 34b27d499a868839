//! The list of hosts inside. A cage has a name of its own, which programs look up to find themselves.

/// What the machine is called inside.
pub(crate) const NAME: &str = "lazaret";
/// Where a system has its list.
pub(crate) const LIST: &str = "/etc/hosts";

/// The list inside: ourselves, and of the machine's list only names for the machine itself. Others lead nowhere from here,
/// and are nobody's business.
pub(crate) fn own(outside: &str) -> String {
    let mut list = format!("127.0.0.1\tlocalhost {NAME}\n::1\tlocalhost ip6-localhost {NAME}\n");
    for line in outside.lines() {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let address = words.next().and_then(|it| it.parse::<std::net::IpAddr>().ok());
        let Some(address) = address.filter(std::net::IpAddr::is_loopback) else { continue };
        let names: Vec<&str> = words.filter(|it| *it != "localhost" && *it != NAME).collect();
        if !names.is_empty() {
            list.push_str(&format!("{address}\t{}\n", names.join(" ")));
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_machine_itself_stay_and_others_go() {
        let outside = "127.0.0.1 localhost\n127.0.1.1\tbox box.example # mine\n10.0.0.7 db\n::1 ip6-loopback\nno list\n";
        let own = own(outside);
        assert!(
            own.starts_with("127.0.0.1\tlocalhost lazaret\n::1\tlocalhost ip6-localhost lazaret\n")
        );
        assert!(
            own.contains("127.0.1.1\tbox box.example\n") && own.contains("::1\tip6-loopback\n")
        );
        assert!(!own.contains("db") && !own.contains("no list") && !own.contains("mine"), "{own}");
    }
}
