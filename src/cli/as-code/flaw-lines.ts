import type { ProblemError } from '../../api/problem.ts'
import { placeText } from '../../yaml/place.ts'
import type { ReadYaml } from '../../platform/yaml/yaml.ts'
import { cutTo, manyLines, oneLine } from '../output/text.ts'
import type { Style } from '../output/style.ts'

/** Of a field that is not known, all that are known are allowed: more than anybody reads below a line of their file. */
const LONGEST_ALLOWED = 120

/** What is wrong, each with the place in the file where it stands. */
export function flawLines(
  flaws: readonly ProblemError[],
  placeOf: ReadYaml['placeOf'],
  style: Style,
): readonly string[] {
  return flaws.flatMap(({ pointer, message, allowed }) => {
    const place = placeOf(pointer)
    const where = place === null ? '' : `${placeText(place)} `
    return [
      `  ${style.bold(where)}${fieldText(pointer)} ${manyLines(message)}`,
      ...(allowed === undefined ? [] : [`    allowed: ${cutTo(oneLine(allowed), LONGEST_ALLOWED)}`]),
    ]
  })
}

/** `/schedules/3/retry_policy/base_ms` as people would write it: `schedules[3].retry_policy.base_ms`. */
function fieldText(pointer: string): string {
  const steps = pointer.split('/').slice(1)
  const plain = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~')
  const text = steps.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${plain(step)}`)).join('')
  return text === '' ? 'the document' : text.replace(/^\./, '')
}
