/** Licences under which something may be shipped together with what is under Apache-2.0. */
const COMPATIBLE = new Set([
  ...[
    '0BSD',
    'Apache-2.0',
    'BSD-2-Clause',
    'BSD-3-Clause',
    'BlueOak-1.0.0',
    'CC0-1.0',
    'ISC',
    'MIT',
    'MIT-0',
    'OFL-1.1',
  ],
  ...['PostgreSQL', 'Python-2.0', 'Unlicense', 'Zlib'],
])

/** Whether an expression of SPDX can be kept: of `OR` one is enough, of `AND` all are needed. */
export function isCompatible(expression) {
  const text = expression.replaceAll(/[()]/g, ' ').trim()
  if (text.includes(' OR ')) return text.split(' OR ').some(isCompatible)
  return text.split(' AND ').every((one) => COMPATIBLE.has(one.trim()))
}

/** What may not be shipped, in sentences. */
export const checkLicences = (shipped) =>
  shipped.flatMap(({ name, version, license }) => {
    if (license === undefined) return [`${name} ${version} does not say under which licence it is`]
    return isCompatible(license) ? [] : [`${name} ${version} is under ${license}, which does not go with Apache-2.0`]
  })
