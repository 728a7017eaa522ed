import { describe, expect, it } from 'vitest'
import {
  checkAddresses,
  checkTarget,
  parseTarget,
  type OutboundRules,
  type Purpose,
} from '../../../src/domain/outbound/ssrf-guard.ts'
import { addressKind, parseAddress } from '../../../src/domain/outbound/address.ts'
import { REFUSED_URLS } from './spellings.ts'

const NOTHING: OutboundRules = { allowHosts: [], allowLoopback: false, protectedServices: [], ownAddresses: [] }

function judge(url: string, purpose: Purpose, rules: Partial<OutboundRules> = {}): string | null {
  const target = parseTarget(url)
  if (!target.ok) return target.message
  const judged = checkTarget(target.value, purpose, { ...NOTHING, ...rules })
  return judged.ok ? null : judged.message
}

function judgeAnswer(url: string, addresses: readonly string[], rules: Partial<OutboundRules> = {}): string | null {
  const target = parseTarget(url)
  if (!target.ok) return target.message
  const judged = checkAddresses(target.value, addresses, { purpose: 'agent', rules: { ...NOTHING, ...rules } })
  return judged.ok ? null : judged.message
}

const SPELLINGS = Object.entries(REFUSED_URLS).flatMap(([kind, urls]) => urls.map((url) => [kind, url] as const))

describe('what is written', () => {
  it('is refused in more than 120 spellings, each another one', () => {
    expect(new Set(SPELLINGS.map(([, url]) => url)).size).toBe(SPELLINGS.length)
    expect(SPELLINGS.length).toBeGreaterThanOrEqual(120)
  })

  it.each(SPELLINGS)('is refused as %s: %s', (_, url) => {
    for (const purpose of ['agent', 'callback', 'webhook', 'probe'] as const)
      expect(judge(url, purpose), purpose).not.toBeNull()
  })

  it.each([
    ...['https://example.com/hook', 'http://example.com:8080/a?b=c', 'http://8.8.8.8/', 'http://1.1.1.1:53/'],
    ...['http://[2606:4700:4700::1111]/', 'https://münchen.example/', 'http://172.15.255.255/', 'http://172.32.0.1/'],
    ...['http://100.63.255.255/', 'http://100.128.0.1/', 'http://9.255.255.255/', 'http://11.0.0.1/'],
    ...['http://192.167.255.255/', 'http://169.253.1.1/', 'http://223.255.255.255/', 'http://198.20.0.1/'],
    ...['http://notlocalhost/', 'http://localhost.example.com/', 'http://[2003::1]/', 'http://126.255.255.255/'],
  ])('is let through where nothing is wrong with it: %s', (url) => {
    for (const purpose of ['agent', 'callback', 'webhook', 'probe'] as const) expect(judge(url, purpose)).toBeNull()
  })

  it.each([
    'http://127.0../',
    'http://１２７../',
    'http://a..example.com/',
    'http://.example.com/',
    'http://example.com../',
  ])('has no empty part in the name of the host: %s', (url) => {
    expect(judge(url, 'webhook')).toBe('has an empty label in its host name')
  })

  it('says what is wrong and who can change it', () => {
    expect(judge('http://127.0.0.1:9000/', 'agent')).toBe(
      '127.0.0.1 is a loopback address, which is not allowed; the operator can set outbound.allow_loopback to true ' +
        'for agents on this machine, or add 127.0.0.1:9000 to outbound.allow_hosts (escapement config set, or config.yaml of the data directory)',
    )
    expect(judge('http://[fd00::1]/', 'webhook')).toBe(
      'fd00::1 is a unique-local address, which is not allowed; the operator can add [fd00::1]:80 to outbound.allow_hosts (escapement config set, or config.yaml of the data directory)',
    )
    expect(judge('http://a:b@example.com/', 'agent')).toBe('must not contain a user name or password')
    expect(judge('ftp://example.com/', 'agent')).toBe('must begin with http:// or https://')
  })
})

describe('what the operator opens', () => {
  it('is one host with one port, for everybody', () => {
    const rules = { allowHosts: ['127.0.0.1:9000', '[fd00::1]:80', 'Build.internal:8443', '10.0.0.5:443'] }
    for (const purpose of ['agent', 'callback', 'webhook', 'probe'] as const) {
      expect(judge('http://127.0.0.1:9000/x', purpose, rules)).toBeNull()
      expect(judge('http://2130706433:9000/x', purpose, rules)).toBeNull()
      expect(judge('http://[fd00::1]/', purpose, rules)).toBeNull()
      expect(judge('https://10.0.0.5/', purpose, rules)).toBeNull()
      expect(judge('http://127.0.0.1:9001/', purpose, rules)).not.toBeNull()
      expect(judge('http://127.0.0.2:9000/', purpose, rules)).not.toBeNull()
      expect(judge('http://localhost:9000/', purpose, rules)).not.toBeNull()
    }
    expect(judgeAnswer('http://build.internal:8443/', ['10.1.1.1'], rules)).toBeNull()
    expect(judgeAnswer('http://build.internal/', ['10.1.1.1'], rules)).not.toBeNull()
  })

  it('is loopback for agents alone', () => {
    const rules = { allowLoopback: true }
    for (const url of ['http://127.0.0.1:9000/', 'http://localhost:9000/', 'http://[::1]:9000/', 'http://127.9.9.9/']) {
      expect(judge(url, 'agent', rules)).toBeNull()
      for (const purpose of ['callback', 'webhook', 'probe'] as const)
        expect(judge(url, purpose, rules)).toContain('loopback')
    }
    for (const url of ['http://10.0.0.1/', 'http://0.0.0.0/', 'http://[::ffff:127.0.0.1]/', 'http://169.254.1.1/'])
      expect(judge(url, 'agent', rules)).not.toBeNull()
  })

  it('never is a metadata address, however it is written', () => {
    for (const url of REFUSED_URLS['metadata'] ?? []) {
      const { host } = new URL(url)
      const allowHosts = [`${host}:80`, `${new URL(url).hostname.replace(/\.$/, '')}:80`]
      expect(judge(url, 'agent', { allowHosts, allowLoopback: true })).toContain('never allowed')
    }
    expect(judgeAnswer('http://x.example/', ['169.254.169.254'], { allowHosts: ['x.example:80'] })).toContain('never')
  })

  it('is everything the operator has written down', () => {
    for (const url of ['http://127.0.0.1:1/', 'http://10.0.0.1/', 'http://localhost/']) {
      expect(judge(url, 'operator')).toBeNull()
      const target = parseTarget(url)
      const context = { purpose: 'operator', rules: NOTHING } as const
      expect(target.ok && checkAddresses(target.value, ['127.0.0.1'], context).ok).toBe(true)
    }
    expect(judge('ftp://127.0.0.1/', 'operator')).not.toBeNull()
  })
})

describe('our own listener and database', () => {
  const listener = { description: 'this server', host: '127.0.0.1', port: 7420, addresses: [] }
  const open = {
    allowLoopback: true,
    allowHosts: ['127.0.0.1:7420', 'localhost:7420', '10.0.0.9:7420', 'me.example:7420'],
  }

  it.each([
    ...['http://127.0.0.1:7420/', 'http://localhost:7420/', 'http://[::1]:7420/', 'http://127.5.5.5:7420/'],
    ...['http://0.0.0.0:7420/', 'http://[::ffff:127.0.0.1]:7420/', 'http://2130706433:7420/'],
  ])('are never called: %s', (url) => {
    expect(judge(url, 'agent', { ...open, protectedServices: [listener] })).toContain(
      'this server, which is never allowed',
    )
  })

  it('are never called by another address of this machine, by their name, or by what it resolves to', () => {
    const everywhere = { ...listener, host: '0.0.0.0' }
    const rules = { ...open, protectedServices: [everywhere], ownAddresses: ['127.0.0.1', '10.0.0.9', '203.0.113.80'] }
    expect(judge('http://10.0.0.9:7420/', 'agent', rules)).toContain('never allowed')
    expect(judgeAnswer('http://me.example:7420/', ['203.0.113.80'], rules)).toContain('never allowed')
    const database = { description: 'the database', host: 'db.example', port: 5432, addresses: ['8.8.4.4'] }
    expect(judge('http://db.example:5432/', 'agent', { protectedServices: [database] })).toContain('the database')
    expect(judge('http://DB.example.:5432/', 'agent', { protectedServices: [database] })).toContain('the database')
    expect(judgeAnswer('http://x.example:5432/', ['8.8.4.4'], { protectedServices: [database] })).toContain(
      'the database',
    )
    expect(judgeAnswer('http://x.example:5433/', ['8.8.4.4'], { protectedServices: [database] })).toBeNull()
  })

  it('do not close other ports and other machines', () => {
    const rules = { ...open, closed: [listener] }
    expect(judge('http://127.0.0.1:7421/', 'agent', rules)).toBeNull()
    expect(judge('http://8.8.8.8:7420/', 'agent', rules)).toBeNull()
  })
})

describe('what a name stands for', () => {
  it.each([
    [['127.0.0.1']],
    [['8.8.8.8', '10.0.0.1']],
    [['10.0.0.1', '8.8.8.8']],
    [['2606:4700::1', '::1']],
    [['8.8.8.8', '::ffff:127.0.0.1']],
    [['64:ff9b::7f00:1']],
    [['fe80::1%eth0']],
    [['8.8.8.8', 'nonsense']],
    [['8.8.8.8', '240.0.0.1']],
  ])('is refused when one of its addresses is: %j', (addresses) => {
    expect(judgeAnswer('http://rebind.example/', addresses)).not.toBeNull()
  })

  it('is let through when every address is fine', () => {
    expect(judgeAnswer('http://example.com/', ['8.8.8.8', '2606:4700::1'])).toBeNull()
  })

  it('is said with the name and the address', () => {
    expect(judgeAnswer('http://rebind.example/', ['10.0.0.1'])).toBe(
      'rebind.example resolves to 10.0.0.1, which is a private address, which is not allowed; the operator can add ' +
        'rebind.example:80 to outbound.allow_hosts (escapement config set, or config.yaml of the data directory)',
    )
  })
})

describe('an address', () => {
  it.each([
    ...['1.2.3', '1.2.3.4.5', '01.2.3.4', '256.1.1.1', '1.2.3.x', '', ':::', '1::2::3', '1:2:3:4:5:6:7', 'g::1'],
    ...['1:2:3:4:5:6:7:8:9', '::1.2.3', '1:2:3:4:5:6:7:8::', '12345::', '1.2.3.4::'],
  ])('that is none is not read: %s', (text) => {
    expect(parseAddress(text)).toBeNull()
  })

  it('is read to its bytes', () => {
    expect(parseAddress('1.2.3.4')).toEqual([1, 2, 3, 4])
    expect(parseAddress('[::1]')).toEqual([...Array.from({ length: 15 }, () => 0), 1])
    expect(parseAddress('2001:db8::ffff:1.2.3.4')?.slice(-6)).toEqual([255, 255, 1, 2, 3, 4])
  })

  it('of every /8 is public or not as the registry says', () => {
    const closed = Array.from({ length: 256 }, (_, first) => first).filter(
      (first) => addressKind([first, 200, 200, 200]) !== null,
    )
    expect(closed).toEqual([0, 10, 127, ...Array.from({ length: 32 }, (_, n) => 224 + n)])
  })
})
