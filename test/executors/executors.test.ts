import { chatStage } from './chat-stage.ts'
import { echoStage, httpStage, inProcessStage, tabStage } from './stages.ts'
import { describeExecutor } from './suite.ts'
import { workerStage } from './worker-stage.ts'

describeExecutor('in-process', inProcessStage, ['flood', 'garble', 'break'])
describeExecutor('http', httpStage)
describeExecutor('tab-action', tabStage, ['use'])
describeExecutor('chat', chatStage)
describeExecutor('worker', workerStage, ['break'])
describeExecutor('echo', echoStage, ['fail', 'use', 'hang', 'flood', 'garble', 'break'])
