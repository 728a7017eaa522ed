import type { MailServer } from '../core/delivery/mail-settings.ts'
import type { Post } from '../core/delivery/message.ts'
import type { TargetKind } from '../core/delivery/target-kinds.ts'
import { createChatPost, type Speak } from './chat.ts'
import { createMailPost } from './email.ts'
import { createSlackPost } from './slack.ts'
import { createPost, type WebhookContext } from './webhook.ts'

/** What sending needs from the world, whatever the kind. */
export interface SendersContext extends WebhookContext {
  readonly mail: () => MailServer | null
  readonly speak: Speak
}

/** Sends each message in the way of its kind. */
export function createSenders(ctx: SendersContext): Post {
  const chat = createChatPost(ctx.speak)
  const senders: { readonly [Kind in TargetKind]: Post } = {
    webhook: createPost(ctx),
    email: createMailPost(ctx.mail),
    slack: createSlackPost(ctx.send, chat),
    telegram: chat,
    session: chat,
  }
  return (message, signal) => senders[message.kind](message, signal)
}
