/**
 * A text in quotes, or a comment: what looks like a comment inside of a text is none. Each counts without its end too:
 * otherwise the same letters would be searched again and again.
 */
const TEXT_OR_COMMENT = /"(?:[^"\\\n]+|\\.)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g

/**
 * JSON as people keep it in files, without its comments: blanks take their places, so that everything else stays where it
 * was. What does not begin as JSON, such as YAML, stays as it is.
 */
export const withoutComments = (text: string): string =>
  /^\s*(?:[[{]|\/[/*])/.test(text)
    ? text.replaceAll(TEXT_OR_COMMENT, (found) => (found.startsWith('"') ? found : found.replaceAll(/[^\n]/g, ' ')))
    : text
