import { blocksOf } from './markdown.ts'

/** One command of a transcript, and what it prints. */
export interface Step {
  readonly command: string
  readonly output: string
}

/** What the transcripts of a document show, in their order. */
export const stepsOf = (document: string): readonly Step[] =>
  blocksOf(document)
    .filter(({ kind }) => kind === 'console')
    .flatMap(({ text }) => stepsIn(text))

/** The same of one transcript. */
export const stepsIn = (text: string): readonly Step[] =>
  text
    .split(/^\$ /m)
    .slice(1)
    .map((one) => {
      const [command = '', ...lines] = one.split('\n')
      return { command, output: lines.join('\n').trim() }
    })

/** The form of an output: everything that is another one each time, by its kind. */
export const formOf = (output: string): string =>
  output
    .replaceAll(/\b(sch|run)_[a-z0-9]{26}\b/g, '$1_ID')
    .replaceAll(/\b127\.0\.0\.1:\d+/g, 'ADDRESS')
    .replaceAll(/\b\d+\.\d+\.\d+\b/g, 'VERSION')
    .replaceAll(/\b202\d-\d\d-\d\dT[\d:.]+Z\b/g, 'TIME')
    .replaceAll(/\bin \d[\d.]* \w+( \d+ \w+)?|\d[\d.]* \w+( \d+ \w+)? ago|\bnow\b/g, 'AWAY')
    .replaceAll(/\b\d[\d.]* m?s\b/g, 'LENGTH')
    .replaceAll(/ +/g, ' ')
