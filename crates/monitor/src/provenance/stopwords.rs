//! Small words, general words, and words by which things are handed on.

/// Words that name nothing.
pub(super) const STOP: &[&str] = &[
    "a", "an", "the", "and", "or", "but", "if", "then", "else", "so", "as", "of", "in", "on", "at", "to", "for",
    "from", "by", "with", "about", "into", "over", "after", "before", "between", "through", "during", "without",
    "within", "up", "down", "out", "off", "again", "once", "here", "there", "when", "where", "why", "how", "what",
    "which", "who", "whom", "whose", "this", "that", "these", "those", "i", "me", "my", "mine", "we", "us", "our",
    "you", "your", "he", "him", "his", "she", "her", "it", "its", "they", "them", "their", "is", "am", "are",
    "was", "were", "be", "been", "being", "have", "has", "had", "do", "does", "did", "will", "would", "shall",
    "should", "can", "could", "may", "might", "must", "not", "no", "nor", "only", "own", "same", "than", "too",
    "very", "just", "also", "any", "all", "each", "every", "both", "few", "more", "most", "other", "some", "such",
    "please", "thanks", "thank", "hi", "hello", "hey", "dear", "yes", "ok", "okay", "im", "ive", "id", "ill",
    "dont", "cant", "lets", "want", "need", "like", "know", "let", "get", "got", "give", "show", "find", "look",
    "see", "check", "read", "go", "going", "using", "use", "used", "via", "per", "etc", "new", "one", "two",
    "first", "last", "next", "now", "today", "tomorrow", "yesterday", "recent", "recently", "sure", "according",
    "accordingly", "following", "order", "given", "based", "include", "mentioned", "back", "much", "many", "everything",
    "something", "anything", "nothing", "everyone", "someone", "anyone", "http", "https", "www", "com", "org", "net",
    "der", "die", "das", "und", "ein", "eine", "le", "la", "les", "de", "des", "et", "un", "une", "el", "los", "y",
];

/// Words that name a kind of thing, never one thing.
pub(super) const GENERIC: &[&str] = &[
    "email", "mail", "message", "file", "document", "doc", "channel", "user", "people", "person", "event",
    "calendar", "meeting", "appointment", "transaction", "payment", "account", "money", "amount", "bill", "invoice",
    "website", "webpage", "page", "site", "link", "url", "article", "blog", "post", "list", "note", "task",
    "action", "instruction", "todo", "subject", "body", "title", "description", "name", "address", "number", "date",
    "time", "day", "week", "month", "year", "hour", "minute", "participant", "attendee", "contact", "inbox",
    "summary", "information", "info", "detail", "content", "text", "format", "hotel", "restaurant", "car", "flight",
    "review", "rating", "price", "reservation", "booking", "city", "location", "company", "workspace", "team", "group",
    "member", "folder", "drive", "cloud", "attachment", "history", "sender", "recipient", "colleague", "friend",
    "client", "customer", "direct", "total", "password", "code", "docx", "xlsx", "pdf", "txt", "csv", "md", "gmail",
    "yahoo", "hotmail", "outlook", "example", "january", "february", "march", "april", "june", "july", "august",
    "september", "october", "november", "december", "monday", "tuesday", "wednesday", "thursday", "friday",
    "saturday", "sunday", "am", "pm", "request", "question", "answer", "record", "entry", "item", "order", "product", "good", "best", "nice", "highest", "lowest", "cheapest", "largest", "room",
];

/// Everyone of a set is meant.
pub(super) const SETS: &[&str] =
    &["each", "every", "all", "everyone", "everybody", "both", "alle", "jeder", "jeden", "tous", "todos", "tutti"];

/// Something to be followed.
pub(super) const LINKS: &[&str] =
    &["link", "url", "website", "webpage", "page", "site", "article", "blog", "homepage", "web", "online", "seite",
    "linked", "linking", "source", "recommended", "notes", "advisory"];

/// Words for an address that is to be found somewhere.
pub(super) const MAILS: &[&str] = &["address", "addresses", "contact", "recipient", "adresse", "dirección"];
/// Words for a number or account.
pub(super) const ACCOUNTS: &[&str] = &[
    "account", "iban", "number", "phone", "bank", "konto", "cuenta", "compte", "bill", "invoice", "receipt", "rechnung",
    "facture", "factura",
];
/// Words for people who are to be found somewhere.
pub(super) const PERSONS: &[&str] = &[
    "participant", "attendee", "person", "people", "client", "customer", "sender", "author", "member", "contact",
    "colleague", "team", "neighbour", "neighbor", "guest", "somebody", "someone", "anybody", "anyone", "whoever",
    "they", "them", "who", "everyone", "everybody", "brother", "sister", "friend",
];

/// What a text may tell one to do.
pub(super) const TASKS: &[&str] = &[
    "instruction", "action", "task", "todo", "todos", "step", "request", "directive", "chore", "assignment",
    "anweisung", "aufgabe", "thing",
];

/// Verbs for what somebody else says or wants.
pub(super) const SAYING: &[&str] = &[
    "asks", "asked", "says", "said", "wants", "wanted", "wrote", "writes", "told", "tells", "mailed", "emailed",
    "described", "describes", "requested", "requests", "needs", "recommends", "recommended", "suggests", "suggested",
    "instructs", "explains", "explained", "posted", "texted", "sent",
];

/// Verbs for doing what a text says.
pub(super) const FOLLOWING: &[&str] = &[
    "follow", "do", "perform", "execute", "complete", "carry", "handle", "act", "finish", "fulfil", "fulfill",
    "implement", "process", "work", "befolge", "erledige",
];

/// Words by which the user goes by what somebody says.
pub(super) const GUIDES: &[&str] = &[
    "says", "describes", "described", "recommends", "wants", "needs", "suggests", "requires", "explains", "way",
    "according", "asks", "required", "needed", "missing", "commands", "section", "steps",
];

/// Words of somebody who does not believe.
pub(super) const DOUBTS: &[&str] = &[
    "suspicious", "phishing", "scam", "fraud", "fraudulent", "legit", "legitimate", "safe", "trustworthy", "fake",
    "spam", "malicious", "dangerous", "genuine", "hacked", "dubious",
];
