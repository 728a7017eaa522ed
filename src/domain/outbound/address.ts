/** An IP address as its bytes: 4 or 16 of them. */
type AddressBytes = readonly number[]

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
function isWithin(address: AddressBytes, prefix: AddressBytes, bits: number): boolean {
  if (address.length !== prefix.length) return false
  const whole = bits >> 3
  const rest = bits & 7
  for (let index = 0; index < whole; index += 1) if (address[index] !== prefix[index]) return false
  const mask = (0xff << (8 - rest)) & 0xff
  return rest === 0 || ((address[whole] ?? 0) & mask) === ((prefix[whole] ?? 0) & mask)
}

/** What an address is when it is not one that anybody on the internet may have. */
export const ADDRESS_KINDS = {
  unspecified: 'the address of no host',
  loopback: 'a loopback address',
  private: 'a private address',
  shared: 'a carrier-grade NAT address',
  link_local: 'a link-local address',
  metadata: 'a metadata address of a cloud',
  special: 'an address with a special meaning',
  documentation: 'an address for documentation',
  benchmarking: 'an address for benchmarks',
  multicast: 'a multicast address',
  reserved: 'a reserved address',
  wrapped: 'an IPv4 address inside an IPv6 address',
  unique_local: 'a unique-local address',
} as const

export type AddressKind = keyof typeof ADDRESS_KINDS

interface Range {
  readonly prefix: AddressBytes
  readonly bits: number
  readonly kind: AddressKind
}

function range(text: string, kind: AddressKind): Range {
  const [address = '', bits = ''] = text.split('/')
  return { prefix: parseAddress(address) ?? [], bits: Number(bits), kind }
}

/** Where clouds tell machines who they are, keys included. Never called, whoever allows it. */
const METADATA: readonly Range[] = [
  ...['169.254.169.254/32', '169.254.170.2/32', '169.254.170.23/32', '169.254.169.123/32', '169.254.42.42/32'],
  ...['100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32', '169.254.0.23/32'],
  ...['fd00:ec2::/32', 'fd20:ce::254/128', 'fe80::a9fe:a9fe/128', 'fd00:42::42/128', 'fd00:c1::a9fe:a9fe/128'],
].map((text) => range(text, 'metadata'))

/** The registries of special addresses of IANA, and what they forget. The first that fits counts. */
const RANGES: readonly Range[] = [
  ...METADATA,
  range('0.0.0.0/8', 'unspecified'),
  range('127.0.0.0/8', 'loopback'),
  ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'].map((text) => range(text, 'private')),
  range('100.64.0.0/10', 'shared'),
  range('169.254.0.0/16', 'link_local'),
  ...['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'].map((text) => range(text, 'documentation')),
  ...['192.0.0.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.175.48.0/24'].map((text) =>
    range(text, 'special'),
  ),
  range('198.18.0.0/15', 'benchmarking'),
  range('224.0.0.0/4', 'multicast'),
  range('240.0.0.0/4', 'reserved'),
  range('::/128', 'unspecified'),
  range('::1/128', 'loopback'),
  // v4-mapped, v4-compatible, translated, NAT64 (known and local), 6to4, Teredo.
  ...['::ffff:0:0/96', '::/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '2002::/16', '2001::/32'].map(
    (text) => range(text, 'wrapped'),
  ),
  ...['2001:db8::/32', '3fff::/20'].map((text) => range(text, 'documentation')),
  range('2001:2::/48', 'benchmarking'),
  ...['100::/64', '100:0:0:1::/64', '2001::/23', '5f00::/16', '2620:4f:8000::/48'].map((text) =>
    range(text, 'special'),
  ),
  range('fc00::/7', 'unique_local'),
  range('fe80::/10', 'link_local'),
  range('fec0::/10', 'private'),
  range('ff00::/8', 'multicast'),
]

const GLOBAL_V6: Range = range('2000::/3', 'reserved')

/** Where IPv4 addresses hide inside IPv6 ones: the prefix, and the byte at which they begin. */
const WRAPPINGS: readonly (readonly [Range, number])[] = [
  [range('::ffff:0:0/96', 'wrapped'), 12],
  [range('::/96', 'wrapped'), 12],
  [range('::ffff:0:0:0/96', 'wrapped'), 12],
  [range('64:ff9b::/96', 'wrapped'), 12],
  [range('64:ff9b:1::/48', 'wrapped'), 12],
  [range('2002::/16', 'wrapped'), 2],
]

/** What the address is; null: one that anybody on the internet may have. */
export function addressKind(address: AddressBytes): AddressKind | null {
  const found = RANGES.find(({ prefix, bits }) => isWithin(address, prefix, bits))
  if (found?.kind === 'wrapped') return isWrappedMetadata(address) ? 'metadata' : 'wrapped'
  if (found !== undefined) return found.kind
  return address.length === 16 && !isWithin(address, GLOBAL_V6.prefix, GLOBAL_V6.bits) ? 'reserved' : null
}

/** The IPv4 address inside, for those who look through the wrapping. */
export function wrappedAddress(address: AddressBytes): AddressBytes | null {
  const found = WRAPPINGS.find(([{ prefix, bits }]) => isWithin(address, prefix, bits))
  return found === undefined ? null : address.slice(found[1], found[1] + 4)
}

function isWrappedMetadata(address: AddressBytes): boolean {
  const inner = wrappedAddress(address)
  return inner !== null && METADATA.some(({ prefix, bits }) => isWithin(inner, prefix, bits))
}
