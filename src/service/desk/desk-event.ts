/** Something that happened in a turn. Other nodes learn from these what to read again. */
export interface DeskEvent {
  readonly kind:
    | 'run.changed'
    | 'run.touched'
    | 'run.output'
    | 'message.merged'
    | 'message.dropped'
    | 'schedule.changed'
    | 'session.changed'
    | 'agent.changed'
    | 'budget.changed'
    | 'provider.changed'
    | 'heartbeat.changed'
    | 'lane.changed'
    | 'config.reloaded'
    | 'org.changed'
    | 'key.changed'
    | 'member.changed'
    | 'target.changed'
    | 'secret.changed'
    | 'delivery.changed'
    | 'alert.raised'
    | 'alert.cleared'
    | 'outbound'
  readonly subject: string
  readonly data: Readonly<Record<string, unknown>>
}
