<?php
// Looks for the pingback server of each address on standard input with
// WordPress's own code, and prints what it finds, a line each. WordPress is
// loaded just far enough for that: it has no database here, so the few settings
// that its code asks for are given below.
//
// Usage: php pingback_discover.php DIRECTORY-OF-WORDPRESS

error_reporting( E_ALL & ~E_DEPRECATED );
define( 'ABSPATH', rtrim( $argv[1], '/' ) . '/' );
define( 'WPINC', 'wp-includes' );
define( 'WP_CONTENT_DIR', ABSPATH . 'wp-content' );
define( 'WP_CONTENT_URL', 'http://blog.invalid/wp-content' );
define( 'WP_DEBUG', false );
define( 'WP_HTTP_BLOCK_EXTERNAL', false );

function get_bloginfo( $name = '' ) { return 'version' === $name ? '6.1' : 'http://blog.invalid'; }
function __( $text ) { return $text; }

$files = 'compat plugin load class-wp-error functions formatting kses http class-wp-http class-wp-http-requests-hooks ' .
	'class-wp-http-response class-wp-http-requests-response class-wp-http-proxy class-wp-http-cookie class-wp-http-encoding class-wp-http-curl class-wp-http-streams comment';
foreach ( explode( ' ', $files ) as $file ) {
	require_once ABSPATH . WPINC . "/$file.php";
}

// No option is looked up in a database.
add_filter( 'pre_option', function ( $value, $name ) {
	$options = array( 'home' => 'http://blog.invalid', 'siteurl' => 'http://blog.invalid', 'blog_charset' => 'UTF-8' );
	return $options[ $name ] ?? '';
}, 10, 2 );

// The pages are served on the loopback interface, on any port.
add_filter( 'http_request_host_is_external', '__return_true' );
add_filter( 'http_allowed_safe_ports', function ( $ports, $host, $url ) {
	$ports[] = parse_url( $url, PHP_URL_PORT );
	return $ports;
}, 10, 3 );

while ( ( $line = fgets( STDIN ) ) !== false ) {
	$found = discover_pingback_server_uri( trim( $line ) );
	echo ( false === $found ? '-' : $found ), "\n";
}
