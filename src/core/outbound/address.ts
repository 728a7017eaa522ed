/** An IP address as its bytes: 4 or 16 of them. */
export type AddressBytes = readonly number[]

/** Reads an address in the one spelling that URLs and resolvers use. Null: it is a name, or no address. */
export function parseAddress(text: string): AddressBytes | null {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  return bare.includes(':') ? parseV6(bare) : parseV4(bare)
}

const OCTET = /^(?:0|[1-9]\d{0,2})$/

function parseV4(text: string): AddressBytes | null {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => OCTET.test(part) && Number(part) <= 255)) return null
  return parts.map(Number)
}

const GROUP = /^[0-9a-f]{1,4}$/i

/** A zone after `%` is no part of the address: it is the address on one interface, and as dangerous as without. */
function parseV6(text: string): AddressBytes | null {
  const halves = (text.split('%')[0] ?? '').split('::')
  if (halves.length > 2 || (halves.length === 2 && halves[0]?.includes('.') === true)) return null
  const [head, tail] = halves.map(groupsOf)
  if (head === null || head === undefined || tail === null) return null
  if (tail === undefined) return head.length === 8 ? bytesOf(head) : null
  const gap = 8 - head.length - tail.length
  return gap < 1 ? null : bytesOf([...head, ...Array.from({ length: gap }, () => 0), ...tail])
}

function groupsOf(text: string): readonly number[] | null {
  if (text === '') return []
  const parts = text.split(':')
  const last = parts.at(-1) ?? ''
  const v4 = last.includes('.') ? parseV4(last) : null
  const groups = (v4 === null ? parts : parts.slice(0, -1)).map((part) =>
    GROUP.test(part) ? Number.parseInt(part, 16) : -1,
  )
  if (groups.includes(-1)) return null
  const [a = 0, b = 0, c = 0, d = 0] = v4 ?? []
  return v4 === null ? groups : [...groups, a * 256 + b, c * 256 + d]
}

const bytesOf = (groups: readonly number[]): AddressBytes => groups.flatMap((group) => [group >> 8, group & 255])

/** Whether the first `bits` of the address are those of the prefix. */
export function isWithin(address: AddressBytes, prefix: AddressBytes, bits: number): boolean {
  if (address.length !== prefix.length) return false
  const whole = bits >> 3
  const rest = bits & 7
  for (let index = 0; index < whole; index += 1) if (address[index] !== prefix[index]) return false
  const mask = (0xff << (8 - rest)) & 0xff
  return rest === 0 || ((address[whole] ?? 0) & mask) === ((prefix[whole] ?? 0) & mask)
}
