import { schemaReader } from '../contract/read-input.ts'
import { targetInput, targetPatch } from '../contract/target.ts'
import type { Escapement } from '../escapement.ts'
import { findAlerts } from '../service/alerts.ts'
import { findDeliveries, getDelivery, retryDelivery } from '../service/deliveries.ts'
import { getSigningSecret, rotateSecret } from '../service/target/signing-secret.ts'
import { testTarget } from '../service/target/test.ts'
import {
  changeTarget,
  createTarget,
  enableTarget,
  findTargets,
  getTarget,
  removeTarget,
} from '../service/target/targets.ts'
import type { Running } from './running.ts'

/** Where results are delivered, results on their way, and what somebody should look at. */
export const receivingOf = (running: () => Running): Pick<Escapement, 'targets' | 'deliveries' | 'alerts'> => ({
  targets: {
    create: async (input) => createTarget(running().app.ports, running().caller, schemaReader(targetInput)(input)),
    get: (id) => getTarget(running().app.ports, running().caller, id),
    list: (filter) => findTargets(running().app.ports, running().caller, filter),
    update: async (id, change) =>
      changeTarget(running().app.ports, running().caller, { id, change: schemaReader(targetPatch)(change) }),
    delete: (id) => removeTarget(running().app.ports, running().caller, { id }),
    enable: (id) => enableTarget(running().app.ports, running().caller, id),
    test: (id) => testTarget(running().app.ports, running().caller, id),
    signingSecret: () => getSigningSecret(running().app.ports, running().caller),
    rotateSecret: () => rotateSecret(running().app.ports, running().caller),
  },
  deliveries: {
    list: (filter) => findDeliveries(running().app.ports, running().caller, filter),
    get: (id) => getDelivery(running().app.ports, running().caller, id),
    retry: (id) => retryDelivery(running().app.ports, running().caller, id),
  },
  alerts: { list: (filter) => findAlerts(running().app.ports, running().caller, filter) },
})
