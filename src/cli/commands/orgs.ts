import type { Command } from 'commander'
import { orgInput, orgPatch, type CreatedOrg, type OrgView } from '../../contract/org.ts'
import { oneLine, valueText } from '../output/text.ts'
import { agoText, momentText } from '../output/times.ts'
import type { Desk } from '../remote/talk.ts'
import { addResource } from '../resource.ts'

/** `escapement orgs …`: the tenants of the deployment. */
export function addOrgs(group: Command, desk: Desk): void {
  addResource<OrgView, CreatedOrg>(group, desk, {
    one: 'an org',
    input: orgInput,
    patch: orgPatch,
    operations: ({ orgs }) => orgs,
    made: {
      facts: (_, { first_key: key }) => [
        ['first key', key === undefined ? null : (key.key ?? `${key.id}, shown before`)],
      ],
      note: ({ id }) => `Add a member next: escapement members add ${id} --name … --role owner`,
    },
    about: { update: 'update an org and its limits', delete: 'delete an org without pending or planned work' },
    columns: ({ now }) => [
      { title: 'ID', of: ({ id }) => id },
      { title: 'NAME', of: ({ name }) => name, flexible: true },
      { title: 'ZONE', of: ({ default_timezone }) => default_timezone },
      { title: 'AT ONCE', of: ({ max_concurrent }) => limitText(max_concurrent), right: true },
      { title: 'SCHEDULES', of: ({ max_schedules }) => limitText(max_schedules), right: true },
      { title: 'RUNS A DAY', of: ({ runs_per_day }) => limitText(runs_per_day), right: true },
      { title: 'TIMEOUT', of: ({ max_timeout_seconds }) => limitText(max_timeout_seconds, ' s'), right: true },
      { title: 'MADE', of: ({ created_at }) => agoText(created_at, now) },
    ],
    facts: ({ now }, org) => [
      ['id', org.id],
      ['name', oneLine(org.name)],
      ['zone', org.default_timezone],
      ['default agent', valueText(org.default_agent_id)],
      ['at once', limitText(org.max_concurrent)],
      ['schedules', limitText(org.max_schedules)],
      ['runs a day', limitText(org.runs_per_day)],
      ['max timeout', limitText(org.max_timeout_seconds, ' s')],
      ['made', momentText(org.created_at, now)],
    ],
  })
}

/** Servers of earlier releases do not know all limits. */
const limitText = (limit: number | null | undefined, unit = ''): string =>
  limit === null || limit === undefined ? 'no limit' : `${limit}${unit}`
