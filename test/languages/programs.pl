#!/usr/bin/env perl
# Programs for sweep, written from its documentation: perl programs.pl NAME SHIPMENT. run.sh lists their verdicts.
use strict;
use warnings;
use HTTP::Tiny;
use JSON::PP;

my ($name, $shipment) = @ARGV;
my $http = HTTP::Tiny->new(timeout => 5, default_headers => {Authorization => "Bearer $ENV{SHIPPING_SECRET_KEY}"});

# call returns the data of the response, or nothing; and its status, 599 without a response.
sub call {
    my ($method, $path, $body) = @_;
    my %options = $body ? (headers => {'Content-Type' => 'application/json'}, content => encode_json($body)) : ();
    my $response = $http->request($method, "$ENV{SHIPPING_BASE_URL}/v1/regulatory-documents/$path", \%options);
    sleep $response->{headers}{'retry-after'} if $response->{headers}{'retry-after'};
    my $envelope = $response->{success} && eval { decode_json($response->{content}) };
    my $data = $envelope && $envelope->{status} ? $envelope->{data} : undef;
    return ($data, $response->{status});
}

sub purchase {
    my ($draft) = @_;
    my @types = map { $_->{document_type} } grep { $_->{mode} eq 'automated' } @{$draft->{available_documents}};
    return call('POST', 'purchase', {request_id => $draft->{request_id}, document_types => \@types});
}

# Waits for the documents, and starts over after a 404.
sub gone_begins_again {
    for (1 .. 2) {
        my ($draft) = call('POST', 'analyze', {shipment_id => $shipment}) or die "not analyzed\n";
        die "not analyzed\n" unless $draft;
        purchase($draft);
        for (1 .. 20) {
            my ($request, $status) = call('GET', "request/$draft->{request_id}");
            last if $status == 404;
            exit 0 if $request && $request->{status} eq 'completed';
            die "failed: $request->{failure_reason}\n" if $request && $request->{status} eq 'failed';
            sleep 1;
        }
    }
    die "no documents\n";
}

# Sends nothing again: after an unclear purchase, it reads the request and reports its state.
sub give_up {
    my ($draft) = call('POST', 'analyze', {shipment_id => $shipment});
    die "not analyzed\n" unless $draft;
    my ($bought) = purchase($draft);
    exit 0 if $bought;
    for (1 .. 3) {
        my ($request) = call('GET', "request/$draft->{request_id}");
        if ($request) {
            exit 0 if $request->{status} ne 'draft';
            die "$draft->{request_id} is still a draft: look again in five minutes\n";
        }
        sleep 1;
    }
    die "$draft->{request_id}: unknown, look again\n";
}

my %programs = ('gone-begins-again' => \&gone_begins_again, 'give-up' => \&give_up);
$programs{$name}->();
