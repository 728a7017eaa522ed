import type { MailServer } from '../core/delivery/mail-settings.ts'
import type { Post } from '../domain/delivery/message.ts'
import type { TargetKind } from '../core/delivery/target-kinds.ts'
import { createChatPost, type Speak } from './chat.ts'
import { createMailPost } from '../integrations/email/send.ts'
import { createSlackPost } from '../integrations/slack/incoming-webhook.ts'
import { createPost, type WebhookContext } from '../integrations/webhook/send.ts'

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
