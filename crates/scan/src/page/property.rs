//! Properties of CSS by which text is lost from sight, and what a declaration gives them.

use std::rc::Rc;

use cssparser::{Parser, Token};

use super::colour::{Image, Paint};
use super::value::{Length, Transform, block};
use super::values::values;

/// Lists the properties with their names; those of older browsers and of the direction of writing included.
macro_rules! properties {
    ($($property:ident: $($name:literal)|+;)+) => {
        /// A property; a shorthand is read as those that it stands for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Property {
            $($property),+
        }

        fn longhand(name: &str) -> &'static [Property] {
            match name {
                $($($name)|+ => &[Property::$property],)+
                _ => &[],
            }
        }
    };
}

properties! {
    Animation: "animation-name" | "animation-duration" | "animation-delay" | "animation-play-state"
        | "animation-fill-mode" | "animation-direction" | "animation-timeline" | "animation" | "-webkit-animation";
    BackgroundClip: "background-clip" | "-webkit-background-clip";
    BackgroundColor: "background-color";
    BackgroundImage: "background-image";
    BackgroundSize: "background-size";
    Bottom: "bottom" | "inset-block-end";
    BoxShadow: "box-shadow";
    Clip: "clip";
    ClipPath: "clip-path" | "-webkit-clip-path";
    Color: "color";
    ColorScheme: "color-scheme";
    Content: "content";
    ContentVisibility: "content-visibility";
    Display: "display";
    Filter: "filter" | "-webkit-filter";
    FlexBasis: "flex-basis";
    FlexDirection: "flex-direction" | "flex-flow";
    FlexGrow: "flex-grow";
    FontSize: "font-size" | "font";
    Height: "height" | "block-size";
    Left: "left" | "inset-inline-start";
    LineHeight: "line-height";
    MarginBottom: "margin-bottom" | "margin-block-end";
    MarginLeft: "margin-left" | "margin-inline-start";
    MarginRight: "margin-right" | "margin-inline-end";
    MarginTop: "margin-top" | "margin-block-start";
    MaxHeight: "max-height" | "max-block-size";
    MaxWidth: "max-width" | "max-inline-size";
    MinHeight: "min-height" | "min-block-size";
    MinWidth: "min-width" | "min-inline-size";
    MixBlendMode: "mix-blend-mode";
    Opacity: "opacity";
    OverflowX: "overflow-x" | "overflow-inline";
    OverflowY: "overflow-y" | "overflow-block";
    PaddingBottom: "padding-bottom" | "padding-block-end";
    PaddingLeft: "padding-left" | "padding-inline-start";
    PaddingRight: "padding-right" | "padding-inline-end";
    PaddingTop: "padding-top" | "padding-block-start";
    Position: "position";
    Right: "right" | "inset-inline-end";
    Scale: "scale";
    TableLayout: "table-layout";
    TextFillColor: "-webkit-text-fill-color";
    TextIndent: "text-indent";
    TextShadow: "text-shadow";
    TextStrokeColor: "-webkit-text-stroke-color";
    TextStrokeWidth: "-webkit-text-stroke-width";
    Top: "top" | "inset-block-start";
    Transform: "transform" | "-webkit-transform";
    Translate: "translate";
    Visibility: "visibility";
    Width: "width" | "inline-size";
    Zoom: "zoom";
}

/// The properties that a name stands for; none for what does not matter here.
pub(super) fn longhands(name: &str) -> &'static [Property] {
    use Property as P;
    match name {
        "background" => {
            &[P::BackgroundColor, P::BackgroundImage, P::BackgroundSize, P::BackgroundClip]
        }
        "flex" | "-webkit-flex" => &[P::FlexGrow, P::FlexBasis],
        "inset" => &[P::Top, P::Right, P::Bottom, P::Left],
        "inset-block" => &[P::Top, P::Bottom],
        "inset-inline" => &[P::Left, P::Right],
        "margin" => &[P::MarginTop, P::MarginRight, P::MarginBottom, P::MarginLeft],
        "overflow" => &[P::OverflowX, P::OverflowY],
        "padding" => &[P::PaddingTop, P::PaddingRight, P::PaddingBottom, P::PaddingLeft],
        "-webkit-text-stroke" => &[P::TextStrokeWidth, P::TextStrokeColor],
        _ => longhand(name),
    }
}

/// What a declaration gives a property.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Word(Word),
    Length(Length),
    Number(f32),
    Paint(Paint),
    Image(Image),
    Transform(Transform),
    /// Filters: the opacity that they leave, and whether they change colours.
    Filter(f32, bool),
    /// A shape to clip to: does it leave nothing?
    Clip(bool),
    /// The name of an animation that ends soon and stays as it ends.
    Animation(Rc<str>),
    /// `inherit`, or `unset` of what is inherited.
    Inherit,
    /// `initial`, `revert` and the like.
    Initial,
    /// The declaration as it stands, with a `var()` in it.
    Variable(Rc<(String, String)>),
    /// Something that browsers may know and that is not worked out here.
    Unknown,
}

/// Keywords that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    None,
    Hidden,
    Contents,
    Flex,
    Column,
    Relative,
    Absolute,
    Fixed,
    Inset,
    Text,
    Dark,
    /// Any other that the property knows.
    Other,
}

impl Value {
    /// Does it hide by itself, whatever else is said of the element?
    pub(super) fn hides(&self, property: Property) -> bool {
        use Property as P;
        match (property, self) {
            (P::Display, Self::Word(word)) => *word == Word::None,
            (P::Visibility | P::ContentVisibility, Self::Word(word)) => *word == Word::Hidden,
            (P::Opacity, Self::Number(share)) => *share < OPACITY_MIN,
            (P::FontSize, Self::Length(size)) => size.em == 0.0 && size.about() <= FONT_PX_MIN,
            (P::Clip | P::ClipPath, Self::Clip(empty)) => *empty,
            // An animation that may not run shows nothing again.
            (P::Animation, Self::Word(_)) => true,
            _ => false,
        }
    }
}

/// What `name: text` gives to which properties. `None` for a value that no browser takes.
pub(super) fn declare(name: &str, text: &str) -> Option<Vec<(Property, Value)>> {
    use Property as P;
    let all = longhands(name);
    let every = |value: Value| Some(all.iter().map(|it| (*it, value.clone())).collect());
    match text.trim().to_ascii_lowercase().as_str() {
        "inherit" => return every(Value::Inherit),
        "initial" | "revert" | "revert-layer" => return every(Value::Initial),
        "unset" => {
            let inherited = matches!(
                all,
                [
                    P::Color
                        | P::FontSize
                        | P::Visibility
                        | P::TextIndent
                        | P::TextShadow
                        | P::TextFillColor,
                    ..
                ]
            );
            return every(if inherited { Value::Inherit } else { Value::Initial });
        }
        _ => {}
    }
    match substitution(&mut Parser::new(text)) {
        Substitution::None => {}
        Substitution::Variable if text.len() > VARIABLE_BYTES_MAX => return every(Value::Unknown),
        Substitution::Variable => {
            return every(Value::Variable(Rc::new((name.to_owned(), text.to_owned()))));
        }
        Substitution::Other => return every(Value::Unknown),
    }
    let mut input = Parser::new(text);
    values(name, all, &mut input).filter(|_| input.is_exhausted())
}

/// Is a part of a value given elsewhere?
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Substitution {
    None,
    /// By a property of the page's own.
    Variable,
    /// By an attribute, a condition, a place, a function of the page's own or one that is not worked out.
    Other,
}

fn substitution(input: &mut Parser<'_>) -> Substitution {
    let mut most = Substitution::None;
    while let Ok(token) = input.next() {
        if let Token::Function(name) = token {
            let name = name.to_ascii_lowercase();
            most = most.max(match name.as_str() {
                "var" => Substitution::Variable,
                "attr" | "if" | "env" | "sibling-index" | "sibling-count" | "anchor"
                | "calc-size" | "round" | "mod" | "rem" | "abs" | "sign" | "sin" | "cos"
                | "pow" | "sqrt" | "hypot" | "log" | "exp" => Substitution::Other,
                _ if name.starts_with("--") => Substitution::Other,
                _ => Substitution::None,
            });
        } else if !matches!(token, Token::ParenthesisBlock) {
            continue;
        }
        most = most.max(block(input, substitution).unwrap_or(Substitution::Other));
    }
    most
}

/// Bytes of a declaration with a `var()` in it.
const VARIABLE_BYTES_MAX: usize = 2048;
/// Less opacity than this shows nothing.
pub(super) const OPACITY_MIN: f32 = 0.05;
/// Letters of this size or less show nothing.
pub(super) const FONT_PX_MIN: f32 = 2.5;
