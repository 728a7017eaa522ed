/** Addresses that nobody but the operator may have called, by what is wrong with them. One list for all tests. */
export const REFUSED_URLS: Readonly<Record<string, readonly string[]>> = {
  loopback: [
    ...['http://127.0.0.1/', 'http://127.0.0.1:80/', 'https://127.0.0.1/', 'http://127.1/', 'http://127.0.1/'],
    ...['http://127.255.255.254/', 'http://127.0.0.1./', 'http://2130706433/', 'http://0x7f000001/', 'http://0x7f.1/'],
    ...['http://017700000001/', 'http://0177.0.0.1/', 'http://0177.0.0.01/', 'http://0x7F.0x0.0x0.0x1/'],
    ...['http://127.0.0.0x1/', 'http://%31%32%37.0.0.1/', 'http://127%2e0%2e0%2e1/', 'http://１２７.０.０.１/'],
    ...['http://①②⑦.⓪.⓪.①/', 'http://127。0。0。1/', 'http://127．0．0．1/', 'http://[::1]/', 'http://[::1]:8080/'],
    ...['http://[0:0:0:0:0:0:0:1]/', 'http://[0000:0000:0000:0000:0000:0000:0000:0001]/', 'HTTP://127.0.0.1/'],
    ...['http:127.0.0.1/', 'http:\\\\127.0.0.1\\', 'http:///127.0.0.1/', 'http://127.0.0.1#@example.com/'],
    ...['http://127.0.0.1?@example.com/', '\thttp://127.0.0.1/', 'http://127.0.0.\n1/', 'http://127.00.00.01/'],
  ],
  'names of loopback': [
    ...[
      'http://localhost/',
      'http://LOCALHOST/',
      'http://localhost./',
      'http://localhost:9000/',
      'http://a.localhost/',
    ],
    ...['http://localhost.localdomain/', 'http://ip6-localhost/', 'http://ip6-loopback/', 'http://ｌｏｃａｌｈｏｓｔ/'],
    ...['http://%6cocalhost/', 'http://a.b.localhost./', 'http://localhost6.localdomain6/', 'http://loc\u00adalhost/'],
  ],
  private: [
    ...['http://10.0.0.1/', 'http://10.255.255.255/', 'http://172.16.0.1/', 'http://172.31.255.255/'],
    ...['http://192.168.0.1/', 'http://192.168.255.255/', 'http://0xa000001/', 'http://012.0.0.1/', 'http://10.1/'],
    ...[
      'http://3232235521/',
      'http://192.168.1/',
      'http://0300.0250.0.1/',
      'http://192.168.0.1./',
      'http://[fec0::1]/',
    ],
  ],
  'link-local': [
    ...['http://169.254.0.1/', 'http://169.254.255.255/', 'http://[fe80::1]/', 'http://[febf:ffff::1]/'],
    ...['http://0xa9fe0001/', 'http://2851995649/'],
  ],
  metadata: [
    ...['http://169.254.169.254/', 'http://169.254.169.254./latest/meta-data/', 'http://0xa9fea9fe/'],
    ...['http://2852039166/', 'http://0251.0376.0251.0376/', 'http://169.254.43518/', 'http://169.254.170.2/'],
    ...['http://100.100.100.200/', 'http://168.63.129.16/', 'http://192.0.0.192/', 'http://[fd00:ec2::254]/'],
    ...['http://[::ffff:169.254.169.254]/', 'http://[::ffff:a9fe:a9fe]/', 'http://[64:ff9b::a9fe:a9fe]/'],
    ...['http://[2002:a9fe:a9fe::]/', 'http://[::a9fe:a9fe]/', 'http://[64:ff9b:1::a9fe:a9fe]/'],
    ...['http://metadata.google.internal/', 'http://METADATA.google.internal./', 'http://metadata/'],
    ...['http://metadata.goog/', 'http://instance-data/', 'http://instance-data.ec2.internal/'],
  ],
  'carrier-grade NAT': ['http://100.64.0.1/', 'http://100.127.255.255/', 'http://0x64400001/', 'http://1681915905/'],
  'the unspecified address': [
    ...['http://0.0.0.0/', 'http://0/', 'http://0x0/', 'http://0.1.2.3/', 'http://0.255.255.255/', 'http://00/'],
    ...['http://[::]/', 'http://[0:0:0:0:0:0:0:0]/', 'http://0.0.0.0:7420/'],
  ],
  multicast: [
    ...['http://224.0.0.1/', 'http://239.255.255.255/', 'http://[ff02::1]/', 'http://[ff05::2]/', 'http://0xe0000001/'],
  ],
  reserved: [
    ...[
      'http://240.0.0.1/',
      'http://255.255.255.255/',
      'http://254.1.1.1/',
      'http://0xffffffff/',
      'http://4294967295/',
    ],
    ...['http://[4000::1]/', 'http://[e000::1]/', 'http://[::2:0:0:1]/'],
  ],
  documentation: [
    ...[
      'http://192.0.2.1/',
      'http://198.51.100.7/',
      'http://203.0.113.9/',
      'http://[2001:db8::1]/',
      'http://[3fff::1]/',
    ],
  ],
  'benchmarks and special': [
    ...['http://198.18.0.1/', 'http://198.19.255.255/', 'http://192.0.0.8/', 'http://192.88.99.1/'],
    ...['http://[2001:2::1]/', 'http://[100::1]/', 'http://[2001:10::1]/', 'http://[5f00::1]/'],
  ],
  'IPv4 inside IPv6': [
    ...[
      'http://[::ffff:127.0.0.1]/',
      'http://[::ffff:7f00:1]/',
      'http://[::FFFF:10.0.0.1]/',
      'http://[::ffff:8.8.8.8]/',
    ],
    ...['http://[0:0:0:0:0:ffff:127.0.0.1]/', 'http://[::127.0.0.1]/', 'http://[::7f00:1]/', 'http://[::10.0.0.1]/'],
    ...['http://[::ffff:0:127.0.0.1]/', 'http://[64:ff9b::127.0.0.1]/', 'http://[64:ff9b::7f00:1]/'],
    ...['http://[64:ff9b::10.0.0.1]/', 'http://[64:ff9b:1::127.0.0.1]/', 'http://[64:ff9b:1:abcd::10.0.0.1]/'],
    ...['http://[2002:7f00:1::]/', 'http://[2002:c0a8:101::1]/', 'http://[2002:a00:1::1]/'],
    ...['http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/', 'http://[2001::1]/'],
  ],
  'unique-local': ['http://[fc00::1]/', 'http://[fd12:3456:789a::1]/', 'http://[fdff:ffff::1]/'],
  'no address to call': [
    ...['http://user@example.com/', 'http://user:secret@example.com/', 'http://:x@example.com/', 'ftp://example.com/'],
    ...[
      'file:///etc/passwd',
      'gopher://example.com/',
      'javascript:alert(1)',
      'data:text/plain,hi',
      'ws://example.com/',
    ],
    ...['http://', 'http://.', 'example.com', '//example.com/', '', ' ', 'http://exa mple.com/', 'http://[::1/'],
    ...['http://[fe80::1%25eth0]/', 'http://[fe80::1%eth0]/', 'http://1.2.3.4.5/', 'http://256.0.0.1/'],
    ...['http://0x100000000/', 'http://example.com:99999/', 'http://08.0.0.1/', 'http://127.0.0.1@example.com/'],
    ...[
      'unix:/var/run/docker.sock',
      'http://%00/',
      'http://exam%2fple.com/',
      `http://example.com/${'x'.repeat(8_192)}`,
    ],
  ],
}
