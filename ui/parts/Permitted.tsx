import { Tooltip } from '@mantine/core'
import { cloneElement, type ReactElement, type ReactNode } from 'react'
import type { PermissionName } from '../../src/features/access/schema.ts'
import { useIsOperator, useMay } from '../api/session.ts'
import { useSay } from '../texts/TextProvider.tsx'

interface PermittedProps {
  readonly permission: PermissionName
  /** Lanes, configuration and orgs belong to the deployment. */
  readonly operatorOnly?: boolean
  /** `disable` (the usual) says on hover what is lacking; `hide` is for what would only be in the way. */
  readonly otherwise?: 'disable' | 'hide'
  readonly children: ReactElement<{ readonly disabled?: boolean }>
}

/** A control that only those may use who hold the permission. The server decides again; this saves people the try. */
export function Permitted({
  permission,
  operatorOnly = false,
  otherwise = 'disable',
  children,
}: PermittedProps): ReactNode {
  const say = useSay()
  const may = useMay(permission)
  const isOperator = useIsOperator()
  if (may && (isOperator || !operatorOnly)) return children
  if (otherwise === 'hide') return null
  const why = may ? say('permission.operators') : say('permission.lacking', { permission })
  return (
    <Tooltip label={why}>
      <span className="refused" tabIndex={0}>
        {cloneElement(children, { disabled: true })}
      </span>
    </Tooltip>
  )
}
