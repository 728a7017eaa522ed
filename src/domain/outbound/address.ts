/** An IP address as its bytes: 4 or 16 of them. */
type AddressBytes = readonly number[]

/** Parses an IP address in the canonical form of URLs and resolvers; null for host names and anything else. */
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

/** A zone after `%` is ignored: it selects an interface and does not make the address safer. */
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

/** Whether the first `bits` of the address equal those of the prefix. */
function isWithin(address: AddressBytes, prefix: AddressBytes, bits: number): boolean {
  if (address.length !== prefix.length) return false
  const whole = bits >> 3
  const rest = bits & 7
  for (let index = 0; index < whole; index += 1) if (address[index] !== prefix[index]) return false
  const mask = (0xff << (8 - rest)) & 0xff
  return rest === 0 || ((address[whole] ?? 0) & mask) === ((prefix[whole] ?? 0) & mask)
}

/** The kinds of address that are not publicly routable. */
export const ADDRESS_KINDS = {
  unspecified: 'the unspecified address',
  loopback: 'a loopback address',
  private: 'a private address',
  shared: 'a carrier-grade NAT address',
  link_local: 'a link-local address',
  metadata: 'a cloud metadata address',
  special: 'a special-purpose address',
  documentation: 'a documentation address',
  benchmarking: 'a benchmarking address',
  multicast: 'a multicast address',
  reserved: 'a reserved address',
  wrapped: 'an IPv4 address inside an IPv6 address',
  unique_local: 'a unique-local address',
} as const

export type AddressKind = keyof typeof ADDRESS_KINDS

interface AddressRange {
  readonly prefix: AddressBytes
  readonly bits: number
  readonly kind: AddressKind
}

function addressRange(text: string, kind: AddressKind): AddressRange {
  const [address = '', bits = ''] = text.split('/')
  return { prefix: parseAddress(address) ?? [], bits: Number(bits), kind }
}

/** The metadata services of clouds, which hand out credentials. Never called, whatever the operator allows. */
const METADATA: readonly AddressRange[] = [
  ...['169.254.169.254/32', '169.254.170.2/32', '169.254.170.23/32', '169.254.169.123/32', '169.254.42.42/32'],
  ...['100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32', '169.254.0.23/32'],
  ...['fd00:ec2::/32', 'fd20:ce::254/128', 'fe80::a9fe:a9fe/128', 'fd00:42::42/128', 'fd00:c1::a9fe:a9fe/128'],
].map((text) => addressRange(text, 'metadata'))

/** The special-purpose registries of IANA, plus ranges missing there. The first match counts. */
const RANGES: readonly AddressRange[] = [
  ...METADATA,
  addressRange('0.0.0.0/8', 'unspecified'),
  addressRange('127.0.0.0/8', 'loopback'),
  ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'].map((text) => addressRange(text, 'private')),
  addressRange('100.64.0.0/10', 'shared'),
  addressRange('169.254.0.0/16', 'link_local'),
  ...['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'].map((text) => addressRange(text, 'documentation')),
  ...['192.0.0.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.175.48.0/24'].map((text) =>
    addressRange(text, 'special'),
  ),
  addressRange('198.18.0.0/15', 'benchmarking'),
  addressRange('224.0.0.0/4', 'multicast'),
  addressRange('240.0.0.0/4', 'reserved'),
  addressRange('::/128', 'unspecified'),
  addressRange('::1/128', 'loopback'),
  // v4-mapped, v4-compatible, translated, NAT64 (known and local), 6to4, Teredo.
  ...['::ffff:0:0/96', '::/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '2002::/16', '2001::/32'].map(
    (text) => addressRange(text, 'wrapped'),
  ),
  ...['2001:db8::/32', '3fff::/20'].map((text) => addressRange(text, 'documentation')),
  addressRange('2001:2::/48', 'benchmarking'),
  ...['100::/64', '100:0:0:1::/64', '2001::/23', '5f00::/16', '2620:4f:8000::/48'].map((text) =>
    addressRange(text, 'special'),
  ),
  addressRange('fc00::/7', 'unique_local'),
  addressRange('fe80::/10', 'link_local'),
  addressRange('fec0::/10', 'private'),
  addressRange('ff00::/8', 'multicast'),
]

const GLOBAL_V6: AddressRange = addressRange('2000::/3', 'reserved')

/** IPv6 prefixes that embed IPv4 addresses, with the byte where the address begins. */
const WRAPPINGS: readonly (readonly [AddressRange, number])[] = [
  [addressRange('::ffff:0:0/96', 'wrapped'), 12],
  [addressRange('::/96', 'wrapped'), 12],
  [addressRange('::ffff:0:0:0/96', 'wrapped'), 12],
  [addressRange('64:ff9b::/96', 'wrapped'), 12],
  [addressRange('64:ff9b:1::/48', 'wrapped'), 12],
  [addressRange('2002::/16', 'wrapped'), 2],
]

/** The kind of an address; null when it is publicly routable. */
export function addressKind(address: AddressBytes): AddressKind | null {
  const found = RANGES.find(({ prefix, bits }) => isWithin(address, prefix, bits))
  if (found?.kind === 'wrapped') return isWrappedMetadata(address) ? 'metadata' : 'wrapped'
  if (found !== undefined) return found.kind
  return address.length === 16 && !isWithin(address, GLOBAL_V6.prefix, GLOBAL_V6.bits) ? 'reserved' : null
}

/** The IPv4 address embedded in an IPv6 address; null if there is none. */
export function wrappedAddress(address: AddressBytes): AddressBytes | null {
  const found = WRAPPINGS.find(([{ prefix, bits }]) => isWithin(address, prefix, bits))
  return found === undefined ? null : address.slice(found[1], found[1] + 4)
}

function isWrappedMetadata(address: AddressBytes): boolean {
  const inner = wrappedAddress(address)
  return inner !== null && METADATA.some(({ prefix, bits }) => isWithin(inner, prefix, bits))
}
