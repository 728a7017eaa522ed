// Names that must not come back (ADR 0045).

/** Words that no declaration and no file has in its name. */
export const OLD_WORDS: ReadonlySet<string> = new Set([
  ...['office', 'desk', 'standee', 'lineup', 'seat', 'deed', 'rail', 'rails', 'railed', 'beat', 'beats'],
  ...['whoever', 'somebody', 'nobody', 'moment', 'moments', 'judge', 'judges', 'judged', 'judgement'],
  ...['habits', 'aside', 'hear', 'heard', 'said', 'speak', 'spoken', 'sight', 'wish', 'wishes', 'gatekeeper'],
])

/** Beginnings of constants that say maximum or minimum in other words. */
export const OLD_PREFIX = /^(MOST|LONGEST|LARGEST|FEWEST|SHORTEST)_/

/** Whole names that were declared before. */
export const OLD_NAMES: ReadonlySet<string> = new Set([
  ...['createOffice', 'OfficeContext', 'takeTurn', 'TurnContext', 'TurnResult', 'LineUp', 'createLineUp'],
  ...['desk', 'railed', 'recallOrg', 'judgeMaking', 'Work', 'Turns', 'DeskEvent'],
])

/** Names that follow a word of the wire: `guard_rails` in requests, `PlannedMoment` in OpenAPI. */
export const WIRE_NAMES: ReadonlySet<string> = new Set([
  ...['guardRails', 'guardRailsInput', 'GuardRailsInput', 'GuardRailsView', 'PlannedMoment'],
])

/** Lines that need the pronoun, with the reason. */
export const PRONOUNS_ALLOWED: readonly { readonly text: string; readonly because: string }[] = [
  { text: 'account `nobody`', because: 'the name of an account of Linux' },
  { text: 'Not `nobody`, which owns', because: 'the name of an account of Linux' },
  { text: 'else `nobody`', because: 'the name of an account of Linux' },
  { text: '- Somebody wants to meet', because: 'what a model answers in the guide' },
  { text: '- Nobody wrote', because: 'what a model answers in the guide' },
  { text: 'agent: Nobody', because: 'a sample name that matches no agent' },
]
