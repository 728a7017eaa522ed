import { parseZone } from '../time/zone.ts'

/**
 * The places in IANA zone names, by area. Listed here and not read from the host, because a sentence must mean the same
 * on every machine.
 */
const IANA_PLACES: Readonly<Record<string, string>> = {
  Africa:
    'Abidjan Accra Addis_Ababa Algiers Asmara Bamako Bangui Banjul Bissau Blantyre Brazzaville Bujumbura ' +
    'Cairo Casablanca Ceuta Conakry Dakar Dar_es_Salaam Djibouti Douala El_Aaiun Freetown Gaborone Harare ' +
    'Johannesburg Juba Kampala Khartoum Kigali Kinshasa Lagos Libreville Lome Luanda Lubumbashi Lusaka Malabo ' +
    'Maputo Maseru Mbabane Mogadishu Monrovia Nairobi Ndjamena Niamey Nouakchott Ouagadougou Porto-Novo ' +
    'Sao_Tome Tripoli Tunis Windhoek',
  America:
    'Adak Anchorage Anguilla Antigua Araguaina Argentina/Buenos_Aires Argentina/Catamarca Argentina/Cordoba ' +
    'Argentina/Jujuy Argentina/La_Rioja Argentina/Mendoza Argentina/Rio_Gallegos Argentina/Salta ' +
    'Argentina/San_Juan Argentina/San_Luis Argentina/Tucuman Argentina/Ushuaia Aruba Asuncion Atikokan Bahia ' +
    'Bahia_Banderas Barbados Belem Belize Blanc-Sablon Boa_Vista Bogota Boise Cambridge_Bay Campo_Grande ' +
    'Cancun Caracas Cayenne Cayman Chicago Chihuahua Ciudad_Juarez Costa_Rica Coyhaique Creston Cuiaba ' +
    'Curacao Danmarkshavn Dawson Dawson_Creek Denver Detroit Dominica Edmonton Eirunepe El_Salvador ' +
    'Fort_Nelson Fortaleza Glace_Bay Goose_Bay Grand_Turk Grenada Guadeloupe Guatemala Guayaquil Guyana ' +
    'Halifax Havana Hermosillo Indiana/Indianapolis Indiana/Knox Indiana/Marengo Indiana/Petersburg ' +
    'Indiana/Tell_City Indiana/Vevay Indiana/Vincennes Indiana/Winamac Inuvik Iqaluit Jamaica Juneau ' +
    'Kentucky/Louisville Kentucky/Monticello Kralendijk La_Paz Lima Los_Angeles Lower_Princes Maceio Managua ' +
    'Manaus Marigot Martinique Matamoros Mazatlan Menominee Merida Metlakatla Mexico_City Miquelon Moncton ' +
    'Monterrey Montevideo Montserrat Nassau New_York Nome Noronha North_Dakota/Beulah North_Dakota/Center ' +
    'North_Dakota/New_Salem Nuuk Ojinaga Panama Paramaribo Phoenix Port-au-Prince Port_of_Spain Porto_Velho ' +
    'Puerto_Rico Punta_Arenas Rankin_Inlet Recife Regina Resolute Rio_Branco Santarem Santiago Santo_Domingo ' +
    'Sao_Paulo Scoresbysund Sitka St_Barthelemy St_Johns St_Kitts St_Lucia St_Thomas St_Vincent Swift_Current ' +
    'Tegucigalpa Thule Tijuana Toronto Tortola Vancouver Whitehorse Winnipeg Yakutat',
  Asia:
    'Aden Almaty Amman Anadyr Aqtau Aqtobe Ashgabat Atyrau Baghdad Bahrain Baku Bangkok Barnaul Beirut ' +
    'Bishkek Brunei Chita Colombo Damascus Dhaka Dili Dubai Dushanbe Famagusta Gaza Hebron Ho_Chi_Minh ' +
    'Hong_Kong Hovd Irkutsk Jakarta Jayapura Jerusalem Kabul Kamchatka Karachi Kathmandu Khandyga Kolkata ' +
    'Krasnoyarsk Kuala_Lumpur Kuching Kuwait Macau Magadan Makassar Manila Muscat Nicosia Novokuznetsk ' +
    'Novosibirsk Omsk Oral Phnom_Penh Pontianak Pyongyang Qatar Qostanay Qyzylorda Riyadh Sakhalin Samarkand ' +
    'Seoul Shanghai Singapore Srednekolymsk Taipei Tashkent Tbilisi Tehran Thimphu Tokyo Tomsk Ulaanbaatar ' +
    'Urumqi Ust-Nera Vientiane Vladivostok Yakutsk Yangon Yekaterinburg Yerevan',
  Atlantic: 'Azores Bermuda Canary Cape_Verde Faroe Madeira Reykjavik South_Georgia St_Helena Stanley',
  Australia: 'Adelaide Brisbane Broken_Hill Darwin Eucla Hobart Lindeman Lord_Howe Melbourne Perth Sydney',
  Europe:
    'Amsterdam Andorra Astrakhan Athens Belgrade Berlin Bratislava Brussels Bucharest Budapest Busingen ' +
    'Chisinau Copenhagen Dublin Gibraltar Guernsey Helsinki Isle_of_Man Istanbul Jersey Kaliningrad Kirov ' +
    'Kyiv Lisbon Ljubljana London Luxembourg Madrid Malta Mariehamn Minsk Monaco Moscow Oslo Paris Podgorica ' +
    'Prague Riga Rome Samara San_Marino Sarajevo Saratov Simferopol Skopje Sofia Stockholm Tallinn Tirane ' +
    'Ulyanovsk Vaduz Vatican Vienna Vilnius Volgograd Warsaw Zagreb Zurich',
  Indian: 'Antananarivo Chagos Christmas Cocos Comoro Kerguelen Mahe Maldives Mauritius Mayotte Reunion',
  Pacific:
    'Apia Auckland Bougainville Chatham Chuuk Easter Efate Fakaofo Fiji Funafuti Galapagos Gambier ' +
    'Guadalcanal Guam Honolulu Kanton Kiritimati Kosrae Kwajalein Majuro Marquesas Midway Nauru Niue Norfolk ' +
    'Noumea Pago_Pago Palau Pitcairn Pohnpei Port_Moresby Rarotonga Saipan Tahiti Tarawa Tongatapu Wake ' +
    'Wallis',
}

/** Common place names that are not in IANA zone names, by their zone. */
const COMMON_PLACES: Readonly<Record<string, string>> = {
  'America/Argentina/Buenos_Aires': 'argentina',
  'America/Bogota': 'colombia',
  'America/Chicago': 'central,austin,dallas,houston,san antonio,new orleans,minneapolis,milwaukee,nashville',
  'America/Denver': 'mountain,salt lake city,albuquerque',
  'America/Lima': 'peru',
  'America/Los_Angeles': 'pacific,la,l.a.,san francisco,sf,seattle,portland,san diego,las vegas,california,san jose',
  'America/Mexico_City': 'cdmx',
  'America/New_York':
    'eastern,nyc,new york city,boston,washington,washington dc,washington d.c.,philadelphia,miami,atlanta',
  'America/Santiago': 'chile',
  'America/Sao_Paulo': 'são paulo,rio,rio de janeiro,brasilia',
  'America/Toronto': 'ottawa,montreal,quebec',
  'Asia/Dubai': 'uae,abu dhabi',
  'Asia/Ho_Chi_Minh': 'vietnam,saigon,hanoi,ho chi minh city',
  'Asia/Hong_Kong': 'hongkong',
  'Asia/Jakarta': 'java',
  'Asia/Jerusalem': 'tel aviv,israel',
  'Asia/Karachi': 'pakistan,lahore,islamabad',
  'Asia/Kolkata': 'india,mumbai,bombay,delhi,new delhi,bangalore,bengaluru,chennai,hyderabad,calcutta,pune',
  'Asia/Manila': 'philippines',
  'Asia/Riyadh': 'saudi arabia',
  'Asia/Seoul': 'korea,south korea,busan',
  'Asia/Shanghai': 'china,beijing,peking,shenzhen,guangzhou,hangzhou,chengdu,nanjing,wuhan',
  'Asia/Singapore': 'sg',
  'Asia/Taipei': 'taiwan',
  'Asia/Tehran': 'iran',
  'Asia/Tokyo': 'japan,osaka,kyoto',
  'Atlantic/Reykjavik': 'iceland',
  'Australia/Brisbane': 'queensland',
  'Australia/Sydney': 'canberra',
  'Europe/Amsterdam': 'netherlands,the netherlands,rotterdam',
  'Europe/Athens': 'greece',
  'Europe/Berlin': 'germany,munich,münchen,hamburg,frankfurt,cologne,köln,stuttgart,düsseldorf,dusseldorf,leipzig',
  'Europe/Brussels': 'belgium,antwerp',
  'Europe/Budapest': 'hungary',
  'Europe/Copenhagen': 'denmark',
  'Europe/Dublin': 'ireland',
  'Europe/Helsinki': 'finland',
  'Europe/Istanbul': 'turkey,ankara',
  'Europe/Kyiv': 'ukraine,kiev',
  'Europe/Lisbon': 'porto',
  'Europe/London': 'uk,the uk,britain,england,scotland,edinburgh,manchester',
  'Europe/Madrid': 'barcelona,seville',
  'Europe/Oslo': 'norway',
  'Europe/Paris': 'france,lyon,marseille',
  'Europe/Prague': 'czechia',
  'Europe/Rome': 'italy,milan,naples,turin',
  'Europe/Stockholm': 'sweden,gothenburg',
  'Europe/Vienna': 'austria,wien,graz,salzburg',
  'Europe/Warsaw': 'poland,krakow,kraków',
  'Europe/Zurich': 'switzerland,geneva,basel,bern,zürich',
  'Africa/Cairo': 'egypt',
  'Africa/Johannesburg': 'south africa,cape town',
  'Africa/Lagos': 'nigeria,abuja',
  'Africa/Nairobi': 'kenya',
  'Pacific/Auckland': 'new zealand,wellington',
  'Pacific/Honolulu': 'hawaii',
  UTC: 'utc,gmt,zulu',
}

/** Chinese place names by zone. */
const CHINESE_PLACES: Readonly<Record<string, string>> = {
  'Africa/Cairo': '开罗,埃及',
  'Africa/Johannesburg': '约翰内斯堡,南非',
  'Africa/Nairobi': '内罗毕',
  'America/Argentina/Buenos_Aires': '布宜诺斯艾利斯',
  'America/Chicago': '芝加哥,休斯敦,达拉斯,美中',
  'America/Denver': '丹佛',
  'America/Los_Angeles': '洛杉矶,旧金山,西雅图,圣迭戈,硅谷,美西',
  'America/Mexico_City': '墨西哥城',
  'America/New_York': '纽约,波士顿,华盛顿,迈阿密,美东',
  'America/Sao_Paulo': '圣保罗',
  'America/Toronto': '多伦多,蒙特利尔,渥太华',
  'America/Vancouver': '温哥华',
  'Asia/Bangkok': '曼谷,泰国',
  'Asia/Dubai': '迪拜,阿联酋',
  'Asia/Ho_Chi_Minh': '胡志明市,河内,越南',
  'Asia/Hong_Kong': '香港',
  'Asia/Jakarta': '雅加达',
  'Asia/Jerusalem': '耶路撒冷,特拉维夫,以色列',
  'Asia/Karachi': '卡拉奇,巴基斯坦',
  'Asia/Kolkata': '孟买,新德里,德里,班加罗尔,加尔各答,印度',
  'Asia/Kuala_Lumpur': '吉隆坡,马来西亚',
  'Asia/Macau': '澳门',
  'Asia/Manila': '马尼拉,菲律宾',
  'Asia/Riyadh': '利雅得',
  'Asia/Seoul': '首尔,韩国',
  'Asia/Shanghai': '北京,上海,深圳,广州,杭州,成都,南京,武汉,天津,重庆,西安,中国',
  'Asia/Singapore': '新加坡',
  'Asia/Taipei': '台北,台湾',
  'Asia/Tehran': '德黑兰',
  'Asia/Tokyo': '东京,大阪,京都,日本',
  'Asia/Urumqi': '乌鲁木齐',
  'Australia/Brisbane': '布里斯班',
  'Australia/Melbourne': '墨尔本',
  'Australia/Perth': '珀斯',
  'Australia/Sydney': '悉尼,堪培拉',
  'Europe/Amsterdam': '阿姆斯特丹,荷兰',
  'Europe/Athens': '雅典,希腊',
  'Europe/Berlin': '柏林,慕尼黑,法兰克福,汉堡,德国',
  'Europe/Brussels': '布鲁塞尔,比利时',
  'Europe/Copenhagen': '哥本哈根,丹麦',
  'Europe/Dublin': '都柏林,爱尔兰',
  'Europe/Helsinki': '赫尔辛基,芬兰',
  'Europe/Istanbul': '伊斯坦布尔,土耳其',
  'Europe/Kyiv': '基辅,乌克兰',
  'Europe/Lisbon': '里斯本,葡萄牙',
  'Europe/London': '伦敦,英国',
  'Europe/Madrid': '马德里,巴塞罗那,西班牙',
  'Europe/Moscow': '莫斯科',
  'Europe/Oslo': '奥斯陆,挪威',
  'Europe/Paris': '巴黎,法国',
  'Europe/Prague': '布拉格',
  'Europe/Rome': '罗马,米兰,意大利',
  'Europe/Stockholm': '斯德哥尔摩,瑞典',
  'Europe/Vienna': '维也纳,奥地利',
  'Europe/Warsaw': '华沙,波兰',
  'Europe/Zurich': '苏黎世,日内瓦,瑞士',
  'Pacific/Auckland': '奥克兰,新西兰',
  'Pacific/Honolulu': '檀香山,夏威夷',
  UTC: '世界协调时,协调世界时,格林尼治',
}

/** Zone abbreviations that stand for more than one zone. */
const AMBIGUOUS =
  'est edt cst cdt mst mdt pst pdt et ct mt pt bst ist cet cest eet eest wet jst kst aest aedt sst ast msk'

const normalizePlace = (name: string): string => name.toLowerCase().replaceAll('_', ' ')

function createPlaceTable(): ReadonlyMap<string, string> {
  const table = new Map<string, string>()
  for (const [area, places] of Object.entries(IANA_PLACES))
    for (const place of places.split(' ')) {
      const [city = place] = place.split('/').slice(-1)
      if (!table.has(normalizePlace(city))) table.set(normalizePlace(city), `${area}/${place}`)
    }
  for (const named of [COMMON_PLACES, CHINESE_PLACES])
    for (const [zone, places] of Object.entries(named)) for (const place of places.split(',')) table.set(place, zone)
  return table
}

const ZONE_BY_PLACE = createPlaceTable()

/** The maximum number of words in a place name. */
export const MAX_PLACE_WORDS = 4

/** The zone of a place name or zone name; null if the name is unknown. */
export function zoneOfPlace(name: string): string | null {
  const place = ZONE_BY_PLACE.get(normalizePlace(name.trim()))
  if (place !== undefined) return place
  if (!name.includes('/')) return null
  const zone = parseZone('timezone', name.trim())
  return zone.ok ? zone.value.name : null
}

/** Whether the name is an abbreviation of more than one zone. */
export const isAmbiguousZone = (name: string): boolean => AMBIGUOUS.split(' ').includes(name.toLowerCase())

/** Chinese place names, longest first, so that a name that starts with another name is matched. */
export const CHINESE_PLACE_NAMES: readonly string[] = Object.values(CHINESE_PLACES)
  .flatMap((places) => places.split(','))
  .sort((a, b) => b.length - a.length)

/** Place names in Latin letters, for suggestions. */
export const PLACE_WORDS: readonly string[] = [...ZONE_BY_PLACE.keys()].filter((name) => /^[a-z ]+$/.test(name))
