import type { Command } from 'commander'
import { paintState } from '../../cli/output/style.ts'
import { oneLine, valueText } from '../../cli/output/text.ts'
import { relativeTimeText, cliTimeText } from '../../cli/output/times.ts'
import { commandOf, type CliContext, type CliCall } from '../../cli/remote/call.ts'
import { filtersOf, optionsOf } from '../../cli/remote/schema-options.ts'
import type { Facts } from '../../cli/remote/show.ts'
import { addAction, addGet, addList, addResource, addWrite } from '../../cli/resource.ts'
import { EscapementError } from '../../client/errors.ts'
import { restrictionsIn, RESTRICTION_FIELDS, RESTRICTION_NAMES, restrictionsText } from './cli-restrictions.ts'
import {
  type CreatedOrg,
  keyFilter,
  keyInput,
  type KeyView,
  type MadeKey,
  memberInput,
  memberPatch,
  type MemberView,
  type MeView,
  orgInput,
  orgPatch,
  type OrgView,
} from './schema.ts'

/**
 * The sign-in link: `server.public_url` if set, otherwise the address of this request. The token is in the fragment, which
 * browsers never send to a server or proxy.
 */
export async function signInLink(call: Pick<CliCall, 'client' | 'url'>, token: string): Promise<string> {
  const base = (await publicUrl(call)) ?? call.url
  return `${base.replace(/\/$/, '')}/#signin=${token}`
}

/** Adds the sign-in URL to a link. */
const withLink = async <Link extends { readonly token: string }>(
  call: Pick<CliCall, 'client' | 'url'>,
  link: Link,
): Promise<Link & { readonly url: string }> => ({ ...link, url: await signInLink(call, link.token) })

/** `server.public_url`; null if unset or not readable with this key, so that the created link is still printed. */
async function publicUrl({ client }: Pick<CliCall, 'client'>): Promise<string | null> {
  try {
    const { values } = await client.config.get()
    const value = values['server.public_url']?.value
    return typeof value === 'string' ? value : null
  } catch (error) {
    if (error instanceof EscapementError) return null
    throw error
  }
}

/** `escapement keys …`: API keys. */
export function addKeys(group: Command, cli: CliContext): void {
  addWrite<MadeKey, object>(cli, commandOf(group, 'create', 'create a key; its value is shown once'), {
    kind: 'new',
    fields: [...optionsOf(keyInput, { guard_rails: null }), ...RESTRICTION_FIELDS],
    names: RESTRICTION_NAMES,
    facts: (call, created) => [
      ...keyFacts(call, created),
      ['key', created.key === null ? null : call.style.bold(created.key)],
    ],
    send: (call, body) => call.client.keys.create(restrictionsIn(body) as never),
    note: () => 'Store the key now: it cannot be shown again.',
  })
  addList<KeyView>(cli, commandOf(group, 'list', 'list keys'), {
    filter: filtersOf(keyFilter),
    none: 'No keys.',
    read: (call, query) => call.client.keys.list(query),
    columns: ({ now, style }) => [
      { title: 'ID', value: ({ id }) => id },
      { title: 'NAME', value: ({ name }) => name, flexible: true },
      { title: 'PREFIX', value: ({ hint }) => hint },
      { title: 'ROLE', value: ({ role }) => role },
      { title: 'SCOPES', value: ({ scopes }) => scopes?.join(' ') ?? 'all', flexible: true },
      { title: 'RESTRICTED', value: ({ guard_rails }) => (guard_rails === null ? '-' : 'yes') },
      { title: 'STATE', value: ({ state }) => state, paint: (text) => paintState(style, text) },
      { title: 'EXPIRES', value: ({ expires_at }) => relativeTimeText(expires_at, now) },
      { title: 'LAST USED', value: ({ last_used_at }) => relativeTimeText(last_used_at, now) },
    ],
  })
  addGet(cli, commandOf(group, 'get <id>', 'show a key, without its value'), {
    facts: keyFacts,
    read: (call, [id = '']) => call.client.keys.get(id),
  })
  addAction(cli, commandOf(group, 'revoke <id>', 'revoke a key'), {
    call: (call, [id = '']) => call.client.keys.revoke(id),
    resultText: ({ state }, id) => `${id} is ${state}.`,
  })
}

const keyFacts = ({ now, style }: CliCall, key: KeyView): Facts => [
  ['id', key.id],
  ['name', valueText(key.name)],
  ['role', key.role],
  ['scopes', key.scopes?.join(', ') ?? 'all of its role'],
  ['restrictions', restrictionsText(key.guard_rails)],
  ['state', paintState(style, key.state)],
  ['expires', cliTimeText(key.expires_at, now) ?? 'never'],
]

/** `escapement members …`: the members of an org. */
export function addMembers(group: Command, cli: CliContext): void {
  addList<MemberView>(cli, commandOf(group, 'list <org>', 'list the members of an org'), {
    none: 'No members.',
    read: (call, query, [org = '']) => call.client.members.list(org, query),
    columns: ({ now }) => [
      { title: 'ID', value: ({ id }) => id },
      { title: 'NAME', value: ({ name }) => name, flexible: true },
      { title: 'E-MAIL', value: ({ email }) => valueText(email), flexible: true },
      { title: 'ROLE', value: ({ role }) => role },
      { title: 'LAST SIGN-IN', value: ({ last_sign_in_at }) => relativeTimeText(last_sign_in_at, now) },
    ],
  })
  addWrite<MemberView, object>(cli, commandOf(group, 'add <org>', 'add a member'), {
    kind: 'new',
    fields: optionsOf(memberInput),
    facts: memberFacts,
    send: (call, body, { args: [org = ''] }) => call.client.members.create(org, body as never),
    note: ({ id }, [org = '']) => `Next, create a sign-in link: escapement members invite ${org} ${id}`,
  })
  addWrite<MemberView, object>(cli, commandOf(group, 'update <org> <id>', 'update a member'), {
    kind: 'change',
    fields: optionsOf(memberPatch),
    facts: memberFacts,
    send: (call, body, { args: [org_id = '', id = ''] }) => call.client.members.update({ org_id, id }, body),
  })
  addAction(cli, commandOf(group, 'remove <org> <id>', 'remove a member'), {
    call: async (call, [org_id = '', id = '']) => {
      await call.client.members.delete({ org_id, id })
      return { id, deleted: true }
    },
    resultText: (_, id) => `Removed member ${id}.`,
  })
  addAction(cli, commandOf(group, 'invite <org> <id>', 'create a one-time sign-in link for a member'), {
    call: async (call, [org_id = '', id = '']) => withLink(call, await call.client.members.invite({ org_id, id })),
    resultText: ({ url }) => url,
  })
}

const memberFacts = ({ now }: CliCall, member: MemberView): Facts => [
  ['id', member.id],
  ['org', member.org_id],
  ['name', oneLine(member.name)],
  ['e-mail', member.email === null ? null : oneLine(member.email)],
  ['role', member.role],
  ['last sign-in', cliTimeText(member.last_sign_in_at, now) ?? 'never'],
]

/** `escapement orgs …`: the orgs of the deployment. */
export function addOrgs(group: Command, cli: CliContext): void {
  addResource<OrgView, CreatedOrg>(group, cli, {
    singular: 'an org',
    input: orgInput,
    patch: orgPatch,
    operations: ({ orgs }) => orgs,
    created: {
      facts: (_, { first_key: key }) => [
        ['first key', key === undefined ? null : (key.key ?? `${key.id}, already shown`)],
      ],
      note: ({ id }) => `Next, add a member: escapement members add ${id} --name … --role owner`,
    },
    descriptions: {
      update: 'update an org and its limits',
      delete: 'delete an org that has no pending runs or schedules',
    },
    columns: ({ now }) => [
      { title: 'ID', value: ({ id }) => id },
      { title: 'NAME', value: ({ name }) => name, flexible: true },
      { title: 'ZONE', value: ({ default_timezone }) => default_timezone },
      { title: 'CONCURRENCY', value: ({ max_concurrent }) => limitText(max_concurrent), right: true },
      { title: 'SCHEDULES', value: ({ max_schedules }) => limitText(max_schedules), right: true },
      { title: 'RUNS PER DAY', value: ({ runs_per_day }) => limitText(runs_per_day), right: true },
      { title: 'TIMEOUT', value: ({ max_timeout_seconds }) => limitText(max_timeout_seconds, ' s'), right: true },
      { title: 'CREATED', value: ({ created_at }) => relativeTimeText(created_at, now) },
    ],
    facts: ({ now }, org) => [
      ['id', org.id],
      ['name', oneLine(org.name)],
      ['zone', org.default_timezone],
      ['default agent', valueText(org.default_agent_id)],
      ['max concurrent', limitText(org.max_concurrent)],
      ['schedules', limitText(org.max_schedules)],
      ['runs per day', limitText(org.runs_per_day)],
      ['max timeout', limitText(org.max_timeout_seconds, ' s')],
      ['created', cliTimeText(org.created_at, now)],
    ],
  })
}

/** Undefined where a server of an earlier release does not send the limit. */
const limitText = (limit: number | null | undefined, unit = ''): string =>
  limit === null || limit === undefined ? 'no limit' : `${limit}${unit}`

/** `escapement login`: creates a sign-in link for the console. */
export function addLogin(command: Command, cli: CliContext): void {
  addAction(cli, command, {
    call: async (call) => withLink(call, await call.client.auth.link()),
    resultText: ({ url }) => url,
  })
}

/** `escapement whoami`: shows the key in use. */
export function addWhoami(command: Command, cli: CliContext): void {
  addGet<MeView>(cli, command, {
    read: (call) => call.client.auth.me(),
    facts: (call, me) => [
      ['id', me.id],
      ['server', call.url],
      ['org', `${me.org.id} (${me.org.name})`],
      ['role', me.operator ? `${me.role}, operator of the deployment` : me.role],
      ['expires', cliTimeText(me.expires_at, call.now) ?? 'never'],
      ['permissions', me.permissions.join('\n')],
    ],
  })
}
