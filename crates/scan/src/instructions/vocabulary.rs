//! The words that rules are made of, in classes. English here, other languages beside it.

use super::languages;

macro_rules! classes {
    ($($class:ident [$($word:literal),+ $(,)?])+) => {
        /// A class of words that mean the same to a rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Class {
            $($class,)+
        }

        /// How many classes there are.
        pub(super) const CLASSES: usize = [$(Class::$class),+].len();

        const ENGLISH: &[(Class, &[&str])] = &[$((Class::$class, &[$($word),+])),+];
    };
}

/// All words with their classes.
pub(super) fn words() -> impl Iterator<Item = (Class, &'static str)> {
    let all = ENGLISH.iter().chain(languages::WORDS);
    all.flat_map(|(class, words)| words.iter().map(|word| (*class, *word)))
}

classes! {
    // Earlier orders are to be forgotten.
    Forget [
        "ignore", "ignoring", "disregard", "disregarding", "forget", "forget about", "overrule", "neglect",
        "do not follow", "don't follow", "stop following", "do not obey", "pay no attention to",
        "set aside", "override", "overrides", "supersedes", "supersede", "bypass",
    ]
    Before [
        "previous", "previously", "prior", "preceding", "above", "earlier", "foregoing", "original", "initial",
    ]
    Orders [
        "instruction", "instructions", "prompt", "prompts", "directive", "directives", "guidelines",
        "programming", "system message", "intructions", "instuctions", "instrutions", "insructions",
        "instructons", "iunstructions", "instuction",
    ]
    AllOrders [
        "all instructions", "all of your instructions", "all your instructions", "your instructions",
        "all the instructions", "any instructions", "every instruction", "your guidelines",
        "all guidelines", "your programming", "your prompt", "the system prompt", "your system prompt",
        "your rules", "all your rules", "all rules", "these instructions", "the instructions you",
        "the instructions given", "the user's instructions", "the user's request", "all safety",
        "your safety", "your directives", "all system instructions", "system instructions",
    ]
    OrdersToo ["rules", "commands", "orders", "context", "tasks", "task"]
    BeforeStrictly ["previous", "prior", "preceding", "above", "earlier", "your previous", "your original"]
    Void [
        "should be ignored", "must be ignored", "are void", "are no longer valid", "no longer apply",
        "are cancelled", "are now void", "should be disregarded", "are obsolete", "can be ignored",
    ]
    // New orders.
    NewOrders [
        "your new instructions", "your new task", "your new instruction", "new instructions:",
        "new instruction:", "updated instructions:", "new system prompt:",
        "your new objective", "your real task", "your actual task", "your true task", "real instructions",
        "actual instructions", "follow these new instructions",
        "now follow these instructions", "here are new instructions", "received new instructions",
        "your only task is", "your task now is", "your instructions are now", "your new goal", "new tasks follow",
    ]
    Obey [
        "strictly adhere to the following", "follow these instructions exactly",
        "must follow these instructions", "execute the following instruction",
        "execute the following instructions", "obey the following", "follow the instructions in this",
        "adhere to the following instruction", "comply with the following instruction",
        "follow the instructions below instead", "only follow the instructions",
        "prioritize the following instruction", "prioritise the following instruction",
    ]
    // The machine.
    Machine [
        "ai", "ai assistant", "ai assistants", "ai model", "ai models", "ai agent", "ai agents", "ai system",
        "language model", "language models", "llm", "llms", "chatgpt", "gpt", "gpt-4", "gpt-3", "gpt-4o",
        "gpt-5", "claude", "gemini", "copilot", "ai bot", "ai systems", "ai language model", "llama",
        "automated assistant", "automated agent", "autonomous agent", "virtual assistant",
        "artificial intelligence", "coding agent", "coding assistant", "ai model,", "ai tool", "ai tools",
    ]
    Helper ["assistant", "assistants", "chatbot", "bot", "agent", "agents", "model", "email assistant"]
    NoteFor [
        "note to", "attention:", "attention,", "attention all", "note for", "notes for", "message to", "message for", "instructions for",
        "instruction for", "reminder for", "notice to",
        "notice for", "warning to", "addressed to", "directive for", "info for",
        "information for",
    ]
    ToYou ["to you", "you, the", "hi"]
    IfYouAre [
        "if you are a", "if you are an", "if you're a", "if you're an", "if you are the", "when you, as",
        "since you are an", "because you are an", "you as an", "as you are an",
    ]
    Reading [
        "reading this", "processing this", "summarizing this", "summarising this", "parsing this",
        "analyzing this", "analysing this", "that reads this", "who reads this", "that read this",
        "viewing this", "handling this", "reviewing this", "assisting with this",
        "interpreting this", "crawling this", "evaluating this", "ingesting this",
    ]
    // Turning the machine into another one.
    Become [
        "you are now", "you are no longer", "from now on you", "from now on, you", "henceforth you",
        "henceforth, you", "you will now act", "you must now", "you will now be", "now you are",
        "from this point on, you", "from this point forward, you", "you shall now",
    ]
    Persona [
        "unrestricted", "without restrictions", "no restrictions", "jailbroken", "jailbreak", "dan",
        "do anything now", "developer mode", "no longer bound", "free from", "not bound by", "evil",
        "uncensored", "unfiltered", "god mode", "an assistant", "a helpful", "ai", "gpt", "a bot",
        "an agent", "a language model", "act as", "the admin", "maintenance mode", "debug mode",
        "chatgpt", "an ai",
    ]
    // The reader's task.
    TaskLure [
        "before you can solve the task", "before you can complete the task",
        "before you can answer", "before you can continue", "before you can proceed with the task",
        "the task that i gave you", "the task i gave you", "you can solve the task",
        "answer: task complete", "task complete", "in order to complete the user's",
        "before answering the user", "before responding to the user", "before you respond to the user",
        "instead of answering", "instead of summarizing", "instead of the original task",
        "to complete the original task", "to finish the user's request", "after completing the user's",
        "do not summarize", "don't summarize", "stop summarizing", "rather than summarizing",
        "when asked to summarize", "when summarizing this", "in your summary", "in your response, include",
        "include in your response",

        "reply only with the",
    ]
    FromMe ["important message from me", "this is an important message from", "urgent message from the user"]
    // The user, spoken of to somebody else.
    User [
        "the user", "the user's", "your user", "your user's", "the human", "the end user", "this user",
        "your operator",
    ]
    Not [
        "do not", "don't", "never", "without", "avoid", "must not", "should not", "no need to", "do n't",
        "not to", "refrain from",
    ]
    Tell [
        "tell", "telling", "inform", "informing", "mention", "mentioning", "notify", "notifying", "alert",
        "alerting", "warn", "warning", "reveal", "revealing", "disclose", "disclosing",

    ]
    Mention [
        "mention this instruction", "mention these instructions", "mention this message",
        "reveal this instruction", "reveal these instructions",
        "mention that you", "acknowledge this instruction", "acknowledge these instructions",
        "mention this to", "mention having", "disclose this instruction", "disclose these instructions",
        "tell anyone about this instruction", "reference this instruction", "say that you were",
    ]
    AskMe [
        "without asking me",

        "without asking the user",


        "without notifying the user", "without telling the user", "without informing the user",
        "don't ask me", "without the user noticing",
    ]
    // Marks of roles and of formats of conversations.
    RoleMark [
        "<|im_start|>", "<|im_end|>", "<|assistant|>", "<|system|>", "<|user|>", "<|end|>", "<|endoftext|>",
        "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>", "<|im_sep|>", "[/inst]", "<<sys>>",
        "<</sys>>", "<|begin_of_text|>", "<|end_of_text|>", "<start_of_turn>", "<end_of_turn>", "<|endofprompt|>",
        "<|context|>", "<|end_of_document|>", "<|query|>", "<|tool|>", "<|end_email|>", "<|message|>",
    ]
    RoleMarkToo [
        "[inst]", "<system>", "</system>", "[system]",
        "###system", "### system", "### instruction", "###instruction", "<assistant>", "</assistant>",
        "<user_query>", "</user_query>", "</user>", "[assistant]",
        "#system", "<system-reminder>", "<instructions>", "</instructions>", "<important>",
        "</important>", "<information>", "</information>", "<admin>", "[admin]", "<system_prompt>",
        "===system", "system notice:", "{{system", "<sys>",
        "</documents>", "</document>", "</context>", "</email>", "</emails>",
    ]
    // Calls of tools.
    ToolForm [
        "<tool_call>", "<tool_calls>", "<function_calls>", "<function_call>", "<invoke name=",
        "</tool_call>", "to=functions", "<|tool_call", "<tool_use>", "\"tool_calls\":", "\"function_call\":",
        "<|end_function_calls|>", "tool_call:", "function_call:", "{\"tool\":", "<function=", "<|python_tag|>",
        "\"tool_name\":",
    ]
    // Giving away.
    Reveal [
        "reveal", "show me", "tell me", "give me", "disclose", "leak", "repeat", "expose", "write out",
        "what is", "what are", "what was", "what were",
    ]
    OwnPrompt [
        "your system prompt", "the system prompt", "your instructions", "your initial prompt",
        "your initial instructions", "your prompt", "your hidden instructions", "your original prompt",
        "your original instructions", "your guidelines", "text above", "your rules", "your configuration",

        "your previous instructions", "your full prompt", "your entire prompt", "your system message",
    ]
    PromptLeak [
        "print your system prompt", "output your system prompt", "print your instructions",
        "output your instructions", "output the system prompt", "print the system prompt",
        "display your system prompt", "return your system prompt", "print your prompt",
        "output your prompt", "output your initial", "print your initial", "print everything above",
        "output everything above", "repeat everything above", "repeat the text above", "repeat the words above",
    ]
    // Errands: fetch something of the user's and carry it away.
    Mine [
        "my", "all user", "user's", "the user", "all messages", "all emails", "all files", "personal details",
        "the details", "the content", "the contents", "detailed information", "information about",
        "genetic data", "the list of", "private", "confidential", "password", "passwords", "contact", "medical",
        "the information", "the file", "the data",
    ]
    Carry [
        "email it", "and email", "and send", "also, email", "also email", "then email", "then send", "and forward",
        "send the acquired", "email them", "email those", "email these", "email the", "send it", "send them",
        "send that", "send those", "send these", "send the details", "send the data", "send the information",
        "send the results", "send the list", "send the file", "send all", "forward it", "forward them",
        "forward those", "forward all", "share it with", "share them with", "mail it", "mail them", "post it",
        "post them", "upload it", "upload them", "transmit it", "exfiltrate", "send an email", "send their",
    ]
    ToAddress ["@"]
    Compose [
        "send an email", "send a email", "send email", "send a mail", "send a message", "write an email",
        "compose an email", "send the following email", "send one email", "call send_email",
        "use send_email", "send_email", "send a confirmation", "send an e-mail", "send a direct message",
        "forward this email", "forward all", "reply to this email",
    ]
    Saying [
        "with the body", "with body", "with the subject", "with subject", "with the content",
        "with the text", "with content", "and body", "and the body", "body:", "body \"", "body '",
        "containing", "with the message", "subject '", "with the following", "only containing", "that says",
        "saying", "contents", "\"body\"", "'body'", "the body", "with exactly", "body is",
    ]
    ForgedRole [
        "(system_message)", "[system message]", "[system note]", "<system_message>", "[end of system",
        "[begin system", "</end_of_document>", "<end_email>", "system override", "im_start", "im_end",
    ]
    Greeting ["hello", "hey", "hi", "dear", "you,", "you are the"]
    LureToo [
        "start your response with", "begin your response with", "your response must",
        "end your response with", "respond only with", "answer only with", "in your answer, ",
    ]
    Unasked [
        "without asking for confirmation", "without confirmation", "without any confirmation",
        "without further confirmation", "don't ask for confirmation", "do not ask for confirmation",
        "no confirmation is needed", "no confirmation needed", "without user confirmation",
        "without the user's knowledge", "without the user's consent", "without user consent",
        "without prompting the user", "do not ask the user", "don't ask the user",
    ]
    Everything [
        "everything before", "everything above", "everything that came before", "all of the above",
        "everything you were told", "everything you have been told", "everything i said",
        "everything you know", "everything prior", "all previous information",
        "all the previous information", "all prior information", "what you were told", "all the above",
        "everything previously", "the above and", "what i said before",
    ]
    EndOf [
        "end of emails", "end of the emails", "end of document", "end of the document", "end of context",
        "end of email", "end of the email", "end of user input", "end of data", "end of retrieved",
        "end of conversation", "end of prompt", "end of input", "end of the prompt",
    ]
    OwnTools [
        "your api call", "your email tool", "your tools to", "using your tools", "use your tools",
        "your send_email", "the send_email tool", "the send_email function", "call send_email",
        "call the send_email", "use the email tool", "using the email tool", "send_email tool",
        "use your tool", "call the tool", "use the tool to send", "use your email", "your function call",
    ]
    PipeOpen ["<|"]
    PipeClose ["|>"]
}
