/** Licenses that are compatible with Apache-2.0. */
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

/** Whether an SPDX expression is compatible: one part of `OR` is enough, `AND` needs all. */
export function isCompatible(expression) {
  const text = expression.replaceAll(/[()]/g, ' ').trim()
  if (text.includes(' OR ')) return text.split(' OR ').some(isCompatible)
  return text.split(' AND ').every((one) => COMPATIBLE.has(one.trim()))
}

/** Incompatible packages, as sentences. */
export const checkLicences = (shipped) =>
  shipped.flatMap(({ name, version, license }) => {
    if (license === undefined) return [`${name} ${version} does not state a license`]
    return isCompatible(license)
      ? []
      : [`${name} ${version} has the license ${license}, which is not compatible with Apache-2.0`]
  })
