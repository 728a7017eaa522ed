import { area } from './area.ts'

/** Forms and their validation errors. */
export const formTexts = area({
  en: {
    'form.save': 'Save',
    'form.missing': 'Required',
    'form.noNumber': 'Not a number',
    'form.noJson': 'Not valid JSON',
    'form.noPairs': 'Each line must be “Name: value”',
    'form.noMoment': 'Not a valid date and time',
    'form.kept': "I've saved it",
    'form.edit': 'Edit',
    'form.none': 'no limit',
    'form.default': 'default',
    'form.yes': 'yes',
    'form.no': 'no',
    'form.operators': 'Operators only',
    'form.operatorsText': 'This belongs to the deployment. Ask its operator.',
    'form.lacking': 'You do not have access to this',
  },
  zh: {
    'form.save': '保存',
    'form.missing': '必填',
    'form.noNumber': '不是数字',
    'form.noJson': '不是有效的 JSON',
    'form.noPairs': '每行格式须为“名称: 值”',
    'form.noMoment': '不是有效的日期和时间',
    'form.kept': '我已保存',
    'form.edit': '编辑',
    'form.none': '不限',
    'form.default': '默认',
    'form.yes': '是',
    'form.no': '否',
    'form.operators': '仅限运维人员',
    'form.operatorsText': '此项属于整个部署，请联系运维人员。',
    'form.lacking': '您无权访问此内容',
  },
})
