import type { ChannelKind } from '../core/channel/channel.ts'
import type { ChannelSettings, TelegramMode } from '../core/channel/channel-settings.ts'

/** A new channel: where messages come from and answers go. Which fields there are depends on its kind. */
export interface ChannelInput {
  /** Part of session keys: lower case letters, digits, `-` and `_`. It never changes. */
  readonly name: string
  readonly kind: ChannelKind
  /** Who answers. */
  readonly agent_id: string
  /** True unless given. */
  readonly enabled?: boolean | undefined
  /** Of a bot or an app. Never shown. */
  readonly token?: string | undefined
  /** By which requests are recognised as Slack's, or as those of whoever calls a hook. Never shown. */
  readonly signing_secret?: string | undefined
  /** How updates of a bot come: `polling`, unless given, or `webhook`. */
  readonly mode?: TelegramMode | null | undefined
  /** In groups, also what does not speak to the bot. */
  readonly hears_all?: boolean | null | undefined
  /** Everybody may speak. Unless given, only those who are named. */
  readonly open?: boolean | null | undefined
  readonly allowed_users?: readonly (string | number)[] | null | undefined
  readonly allowed_chats?: readonly (string | number)[] | null | undefined
  /** Who is meant when a message goes to the channel and nobody is named. */
  readonly default_recipient?: string | null | undefined
  /** Of a hook: which conversation a request belongs to, with `{{body.x}}` for what it says; `main` unless given. */
  readonly session?: string | null | undefined
  /** Of a hook: what the agent is told; the field `text` of the body, or all of it, unless given. */
  readonly text?: string | null | undefined
  /** Of a hook: the lane of its runs. */
  readonly lane?: string | null | undefined
}

/** What may change about a channel: everything but its name and its kind. */
export type ChannelPatch = {
  readonly [Name in Exclude<keyof ChannelInput, 'name' | 'kind'>]?: ChannelInput[Name] | undefined
}

/** A channel, and how it fares. */
export interface ChannelView extends ChannelSettings {
  readonly id: string
  readonly org_id: string
  readonly name: string
  readonly kind: ChannelKind
  readonly agent_id: string
  readonly enabled: boolean
  readonly has_token: boolean
  readonly has_signing_secret: boolean
  /** Where requests to it go. */
  readonly hook_path: string
  /** The name of the bot, once Telegram has told it. */
  readonly username: string | null
  /** The node that attends to it. */
  readonly attended_by: string | null
  readonly last_heard_at: string | null
  readonly last_failed_at: string | null
  /** What is wrong with it. */
  readonly failure: string | null
  readonly created_by: string | null
  readonly created_at: string
  readonly updated_at: string
}

/** What came of trying a channel out. */
export interface ChannelTestView {
  readonly ok: boolean
  /** The name of the bot, if its service has told it. */
  readonly username: string | null
  readonly status_code: number | null
  readonly message: string | null
}

/** What became of a request to a channel. */
export interface HookReceipt {
  /** The run that answers it; null when there was nothing to answer. */
  readonly run_id: string | null
  /** What happened: a run was made, work was stopped, or it was passed over. */
  readonly outcome: 'accepted' | 'stopped' | 'ignored' | 'turned_away'
  /** The message was sent before: this is the run of the first one. */
  readonly duplicate?: true
}
